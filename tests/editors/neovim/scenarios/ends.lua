--- Servers end, editors end, tasks go on.

--- Waits until a task is there, and returns it.
local function asked(child)
  return child:wait(
    'the task is there',
    [[(function()
    local client = vim.lsp.get_clients({ name = 'understudy' })[1]
    return select(2, next(require('understudy.tasks').of(client.id)))
  end)()]]
  )
end

return {
  {
    name = 'the server ends with the editor',
    run = function(child)
      child:edit('src/lib.rs')
      local id = child:lua([[return vim.fn.getpid()]])
      local function children()
        local found = vim.system({ 'pgrep', '-P', tostring(id) }, { text = true }):wait()
        return vim.split(vim.trim(found.stdout), '\n', { trimempty = true })
      end
      local servers = children()
      assert(#servers == 1, vim.inspect(servers))
      child:stop()
      assert(
        vim.wait(2000, function()
          return vim.uv.fs_stat('/proc/' .. servers[1]) == nil
        end, 20),
        'the server is still there'
      )
    end,
    is_over = true,
  },
  {
    name = 'a killed server is started again by the next command, and its task is there',
    run = function(child)
      child:edit('src/lib.rs')
      child:command('Understudy new fix warnings')
      local task = child:wait_for_task('review', 'verified')
      child:lua([[vim.lsp.get_clients({ name = 'understudy' })[1].rpc.terminate()]])
      child:wait('the server has ended', [[#vim.lsp.get_clients({ name = 'understudy' }) == 0]])
      child:command('Understudy tasks')
      child:wait('the task is listed', [[vim.fn.search(...) > 0]], task.id)
      child:command('close')
      child:review()
    end,
  },
  {
    name = 'a rename begins at the cursor, by command or by code action',
    archive = 'sums',
    run = function(child, workspace)
      child:edit('src/lib.rs')
      child:lua([[vim.fn.search('\\<fn \\zsadd', 'w')]])
      child:command('Understudy rename plus')
      local line = child:lua([[return vim.fn.line('.')]])
      assert(asked(child).title == ('rename `add` at src/lib.rs:%d:8 to `plus`'):format(line), asked(child).title)
      child:command('Understudy cancel')
      local first = child:wait_for_task('ended').id
      child:lua([[
        vim.ui.input = function(_, typed) typed('sum') end
        vim.lsp.buf.code_action({ apply = true, filter = function(action)
          return action.title:find('rename', 1, true) ~= nil
        end })
      ]])
      child:wait(
        'the second task is there',
        [[(function(first, line)
        local client = vim.lsp.get_clients({ name = 'understudy' })[1]
        for id, task in pairs(require('understudy.tasks').of(client.id)) do
          if id ~= first then
            return task.title == ('rename `add` at src/lib.rs:%d:8 to `sum`'):format(line)
          end
        end
      end)(...)]],
        first,
        line
      )
      child:command('Understudy cancel')
      assert(not workspace:read('src/lib.rs'):find('plus'))
    end,
  },
  {
    name = 'changes of the working tree are proved',
    run = function(child, workspace)
      workspace:write('src/lib.rs', (workspace:read('src/lib.rs'):gsub('let mut ', 'let ')))
      workspace:write('README.md', 'new\n')
      vim.fn.delete(workspace.path .. '/.gitignore')
      child:edit('src/lib.rs')
      child:lua([[
        vim.lsp.buf.code_action({ apply = true, filter = function(action)
          return action.title:find('prove my working-tree changes', 1, true) ~= nil
        end })
      ]])
      child:wait('it is said', [[messages[1] and messages[1]:find('prove the working tree: started', 1, true)]])
      local task = child:wait(
        'the proof has ended',
        [[(function()
        local client = vim.lsp.get_clients({ name = 'understudy' })[1]
        local _, line = next(require('understudy.tasks').of(client.id))
        return line and (line.status == 'review' or line.status == 'ended') and line
      end)()]]
      )
      assert(task.verdict == 'verified', vim.inspect(task))
      child:review()
      local sides = child:lua([[
        local review, sides = require('understudy.review').current(), {}
        for index, file in ipairs(review.files) do
          sides[file.path] = file.hunks[1].kind
        end
        return sides
      ]])
      assert(sides['README.md'] == 'create' and sides['.gitignore'] == 'delete', vim.inspect(sides))
      child:wait(
        'the deleted file is empty on the right',
        [[(function()
        local review = require('understudy.review').current()
        local function text(side)
          local buffer = vim.api.nvim_win_get_buf(review.windows[side])
          return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
        end
        return review.files[review.index].path == '.gitignore' and text('base') == '/target' and text('tree') == ''
      end)()]]
      )
    end,
  },
}
