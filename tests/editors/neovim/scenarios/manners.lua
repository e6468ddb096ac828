--- What a guest in somebody's editor does and does not do.

local function reviewed(child)
  child:edit('src/lib.rs')
  child:command('Understudy new fix warnings')
  child:wait_for_task('review', 'verified')
  child:review()
end

return {
  {
    name = 'writing a review buffer fails and approves nothing',
    run = function(child, workspace)
      local base = workspace:read('src/lib.rs')
      reviewed(child)
      for _, command in ipairs({ 'write', 'write!', 'update', 'wall' }) do
        child:lua([[pcall(vim.cmd, ...)]], command)
      end
      assert(not child:lua('return vim.bo.modifiable'))
      assert(child:task().status == 'review')
      assert(workspace:read('src/lib.rs') == base)
      assert(vim.fn.isdirectory(workspace.path .. '/understudy:') == 0)
    end,
  },
  {
    name = 'hooks that change text on saving do not change approved bytes, hooks after it run',
    run = function(child, workspace)
      local base = workspace:read('src/lib.rs')
      child:lua([[
        vim.api.nvim_create_autocmd('BufWritePre', { pattern = '*.rs', command = 'normal! Gofrom a hook' })
        vim.api.nvim_create_autocmd('BufWritePost', { pattern = '*.rs', command = 'let g:heard = v:true' })
      ]])
      reviewed(child)
      child:command('Understudy apply')
      local outcome = child:outcome(1)
      assert(outcome.outcome == 'applied', outcome.sentence)
      assert(#outcome.unsaved == 0, vim.inspect(outcome.unsaved))
      assert(workspace:read('src/lib.rs') == base:gsub('let mut ', 'let '))
      assert(child:lua('return vim.g.heard'))
    end,
  },
  {
    name = 'applying outside a review shows the diff first',
    run = function(child, workspace)
      local base = workspace:read('src/lib.rs')
      child:edit('src/lib.rs')
      child:command('Understudy new fix warnings')
      child:wait_for_task('review', 'verified')
      child:command('Understudy apply')
      child:wait('the review is shown', [[require('understudy.review').current() ~= nil]])
      assert(workspace:read('src/lib.rs') == base)
      assert(child:task().status == 'review')
    end,
  },
  {
    name = 'closing a review leaves nothing behind and can be opened again',
    run = function(child)
      reviewed(child)
      child:type('q')
      child:wait('the tab is closed', [[#vim.api.nvim_list_tabpages() == 1]])
      child:wait(
        'its buffers are gone',
        [[#vim.tbl_filter(function(buffer)
        return vim.startswith(vim.api.nvim_buf_get_name(buffer), 'understudy://')
      end, vim.api.nvim_list_bufs()) == 0]]
      )
      child:review()
    end,
  },
  {
    name = 'news are one line, and the cursor stays where it is',
    run = function(child)
      child:edit('src/lib.rs')
      child:command('normal! 4G')
      child:command('Understudy new fix warnings')
      child:wait_for_task('review', 'verified')
      for _, message in ipairs(child:lua('return messages')) do
        assert(not message:find('\n'), message)
      end
      assert(child:lua([[return vim.fn.line('.')]]) == 4)
      assert(child:lua([[return #vim.api.nvim_list_wins()]]) == 1)
      assert(child:lua([[return require('understudy').status()]]):find('^understudy: fix warnings: verified'))
    end,
  },
  {
    name = 'subcommands and their arguments are completed',
    run = function(child)
      child:edit('src/lib.rs')
      local function complete(line)
        return child:lua([[return vim.fn.getcompletion(..., 'cmdline')]], line)
      end
      assert(vim.deep_equal(complete('Understudy re'), { 'receipt', 'reject', 'rename', 'resume', 'review' }))
      assert(vim.list_contains(complete('Understudy new fix '), 'warnings'))
      child:command('Understudy new fix warnings')
      local task = child:wait_for_task('review', 'verified')
      assert(vim.deep_equal(complete('Understudy review '), { task.id }))
    end,
  },
  {
    name = 'health and help are in order',
    run = function(child)
      child:edit('src/lib.rs')
      child:command('checkhealth understudy')
      local text = table.concat(child:lines(), '\n')
      assert(text:find('Servers') and text:find(vim.env.UNDERSTUDY_BINARY, 1, true), text)
      assert(not text:find('ERROR'), text)
      local doc = vim.env.SCRATCH .. '/doc'
      vim.fn.mkdir(doc, 'p')
      vim.uv.fs_copyfile(vim.env.PLUGIN .. '/doc/understudy.txt', doc .. '/understudy.txt')
      child:command('helptags ' .. doc)
      local tags = vim.fn.readblob(doc .. '/tags')
      for _, tag in ipairs({ 'understudy', ':Understudy', 'g:understudy', 'understudy-review' }) do
        assert(tags:find(tag .. '\t', 1, true), tag)
      end
    end,
  },
}
