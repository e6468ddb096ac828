--- What a guest in somebody's editor does and does not do.

local function fixed(text)
  return (text:gsub('let mut ', 'let '))
end

local function complete(child, line)
  return child:lua([[return vim.fn.getcompletion(..., 'cmdline')]], line)
end

local start = {
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
}

local completion = {
  name = 'subcommands and their arguments are completed',
  run = function(child)
    assert(vim.deep_equal(complete(child, 'Understudy re'), { 'receipt', 'reject', 'rename', 'resume', 'review' }))
    assert(vim.list_contains(complete(child, 'Understudy new fix '), 'warnings'))
    assert(vim.deep_equal(complete(child, 'Understudy review '), { child:task().id }))
  end,
}

local apply_outside = {
  name = 'applying outside a review shows the diff first',
  run = function(child, workspace)
    local base = workspace:read('src/lib.rs')
    child:command('Understudy apply')
    child:wait(
      'the review is shown',
      [[(function()
      local review = require('understudy.review').current()
      return review and vim.wo[review.windows.tree].diff
    end)()]]
    )
    assert(workspace:read('src/lib.rs') == base)
    assert(child:task().status == 'review')
  end,
}

local writing = {
  name = 'writing a review buffer fails and approves nothing',
  run = function(child, workspace)
    local base = workspace:read('src/lib.rs')
    for _, command in ipairs({ 'write', 'write!', 'update', 'wall' }) do
      child:lua([[pcall(vim.cmd, ...)]], command)
    end
    assert(not child:lua('return vim.bo.modifiable'))
    assert(child:task().status == 'review')
    assert(workspace:read('src/lib.rs') == base)
    assert(vim.fn.isdirectory(workspace.path .. '/understudy:') == 0)
  end,
}

local receipt = {
  name = 'the receipt of a check is shown',
  run = function(child)
    child:command('Understudy receipt cargo test')
    child:wait('the receipt is shown', [[vim.fn.search('\\$ cargo test') > 0]])
    assert(child:lines()[1]:find('^cargo test: passed'), child:lines()[1])
    child:type('q')
    child:wait(
      'it is closed again',
      [[require('understudy.review').current() and #vim.api.nvim_tabpage_list_wins(0) == 2]]
    )
  end,
}

local by_name = {
  name = 'a file of a tree can be opened by its name',
  run = function(child)
    local task = child:task()
    child:command(('tabedit understudy://%s/%s/src/lib.rs'):format(task.id, task.tree))
    child:wait('it is there', [[vim.fn.search('let sum') > 0]])
    assert(not child:lua('return vim.bo.modifiable'))
    child:command('tabclose')
  end,
}

local closing = {
  name = 'closing a review leaves nothing behind and can be opened again',
  run = function(child)
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
}

local hooks = {
  name = 'hooks that change text on saving do not change approved bytes, hooks after it run',
  run = function(child, workspace)
    local base = workspace:read('src/lib.rs')
    child:lua([[
      vim.api.nvim_create_autocmd('BufWritePre', { pattern = '*.rs', command = 'normal! Gofrom a hook' })
      vim.api.nvim_create_autocmd('BufWritePost', { pattern = '*.rs', command = 'let g:heard = v:true' })
    ]])
    child:command('Understudy apply')
    local outcome = child:outcome(1)
    assert(outcome.outcome == 'applied', outcome.sentence)
    assert(#outcome.unsaved == 0, vim.inspect(outcome.unsaved))
    assert(workspace:read('src/lib.rs') == fixed(base))
    assert(child:lua('return vim.g.heard'))
  end,
}

return {
  { name = 'a guest', parts = { start, completion, apply_outside, writing, receipt, by_name, closing, hooks } },
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
