--- Servers end, editors end, tasks go on.

return {
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
    name = 'a rename begins at the cursor',
    archive = 'sums',
    run = function(child, workspace)
      child:edit('src/lib.rs')
      local line = child:lua([[return vim.fn.search('\\<fn \\zs\\k\\+', 'w')]])
      assert(line > 0)
      local name = child:lua([[return vim.fn.expand('<cword>')]])
      child:command('Understudy rename renamed_here')
      local task = child:wait(
        'the task is there',
        [[(function()
        local client = vim.lsp.get_clients({ name = 'understudy' })[1]
        return select(2, next(require('understudy.tasks').of(client.id)))
      end)()]]
      )
      assert(task.title:find(name, 1, true) and task.title:find('renamed_here', 1, true), task.title)
      child:command('Understudy cancel')
      child:wait_for_task('ended')
      assert(not workspace:read('src/lib.rs'):find('renamed_here'))
    end,
  },
  {
    name = 'changes of the working tree are proved',
    run = function(child, workspace)
      workspace:write('src/lib.rs', (workspace:read('src/lib.rs'):gsub('let mut ', 'let ')))
      child:edit('src/lib.rs')
      child:command('Understudy prove')
      local task = child:wait(
        'the proof has ended',
        [[(function()
        local client = vim.lsp.get_clients({ name = 'understudy' })[1]
        local _, line = next(require('understudy.tasks').of(client.id))
        return line and (line.status == 'review' or line.status == 'ended') and line
      end)()]]
      )
      assert(task.verdict == 'verified', vim.inspect(task))
    end,
  },
}
