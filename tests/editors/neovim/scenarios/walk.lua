--- From a task to bytes on disk and back.

local FIRST = { '    let mut sum = one + other;', '    let sum = one + other;' }
local SECOND = { '    let mut result = number * 2;', '    let result = number * 2;' }

--- The text with one line in place of another; the lines are unique.
local function with(text, change)
  local start, finish = text:find(change[1], 1, true)
  return text:sub(1, start - 1) .. change[2] .. text:sub(finish + 1)
end

local function equal(found, wanted, what)
  assert(found == wanted, ('%s:\n--- found\n%s\n--- wanted\n%s'):format(what, found, wanted))
end

local function text_of(child)
  return table.concat(child:lines(), '\n') .. '\n'
end

local function code_action(child, title)
  child:lua(
    [[
      local title = ...
      vim.lsp.buf.code_action({ apply = true, filter = function(action)
        return action.title:lower():find(title, 1, true) ~= nil
      end })
    ]],
    title
  )
  child:wait(
    'the task is started',
    [[(function()
    local client = vim.lsp.get_clients({ name = 'understudy' })[1]
    return next(require('understudy.tasks').of(client.id))
  end)()]]
  )
end

--- Rejects the second hunk by its key, and waits until what is left is checked.
local function reject_second(child)
  child:type('gg]c]cR')
  child:wait(
    'one hunk is rejected',
    [[(function()
    local review = require('understudy.review').current()
    return vim.tbl_count(review.rejected) == 1 and review.line.kept_verdict == 'verified'
  end)()]]
  )
end

return {
  {
    name = 'a task by command: one hunk kept, one rejected, checked again, applied byte for byte, undone',
    run = function(child, workspace)
      local base = workspace:read('src/lib.rs')
      child:edit('src/lib.rs')
      child:type(':Understudy new fix warnings<CR>')
      child:wait_for_task('review', 'verified')
      equal(workspace:read('src/lib.rs'), base, 'nothing is written before the approval')
      child:review()
      reject_second(child)
      child:type(':Understudy apply<CR>')
      local outcome = child:outcome(1)
      equal(outcome.outcome, 'applied', outcome.sentence)
      assert(#outcome.unsaved == 0, vim.inspect(outcome.unsaved))
      equal(workspace:read('src/lib.rs'), with(base, FIRST), 'base and the kept hunk')
      child:wait('the review is closed', [[#vim.api.nvim_list_tabpages() == 1]])
      equal(text_of(child), with(base, FIRST), 'the buffer')
      assert(not child:lua('return vim.bo.modified'))
      child:type(':Understudy undo<CR>')
      outcome = child:outcome(2)
      equal(outcome.outcome, 'applied', outcome.sentence)
      equal(workspace:read('src/lib.rs'), base, 'taken back')
      equal(text_of(child), base, 'the buffer after the undo')
    end,
  },
  {
    name = 'a task by code action: the unsaved buffer is the base, typing goes on, what was typed is kept',
    run = function(child, workspace)
      local base = workspace:read('src/lib.rs')
      child:edit('src/lib.rs')
      child:command('set formatoptions=')
      child:type('ggO// typed before<Esc>')
      child:wait('the text is typed', [[vim.fn.getline(1) == '// typed before']])
      code_action(child, 'warnings')
      child:type('Go// typed meanwhile<Esc>')
      child:wait_for_task('review', 'verified')
      local task = child:task()
      assert(task.hunks == 2, vim.inspect(task))
      child:review()
      local left = child:lua([[
        local review = require('understudy.review').current()
        return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(review.windows.base), 0, -1, false)
      ]])
      equal(left[1], '// typed before', 'the base is the unsaved text')
      child:type(':Understudy apply<CR>')
      local outcome = child:outcome(1)
      if outcome.outcome == 'moved' then
        -- Another tree: shown, checked and approved anew.
        child:expect_warning('moved: nothing was written')
        child:wait(
          'the new tree is reviewed',
          [[(function(tree)
          local line = require('understudy.review').current().line
          return line.tree ~= tree and line.kept_verdict == 'verified'
        end)(...)]],
          task.tree
        )
        child:type(':Understudy apply<CR>')
        outcome = child:outcome(2)
      end
      equal(outcome.outcome, 'applied', outcome.sentence)
      equal(vim.inspect(outcome.unsaved), vim.inspect({ 'src/lib.rs' }), 'it was not clean before')
      equal(workspace:read('src/lib.rs'), base, 'the disk is left to the developer')
      child:wait('the review is closed', [[#vim.api.nvim_list_tabpages() == 1]])
      local wanted = '// typed before\n' .. with(with(base, FIRST), SECOND) .. '// typed meanwhile\n'
      equal(text_of(child), wanted, 'nothing typed is lost')
    end,
  },
  {
    name = 'typing under a review: nothing is written, another tree is shown, checked and approved anew',
    run = function(child, workspace)
      local base = workspace:read('src/lib.rs')
      child:edit('src/lib.rs')
      child:command('set formatoptions=')
      child:command('Understudy new fix warnings')
      local task = child:wait_for_task('review', 'verified')
      child:review()
      reject_second(child)
      child:type('gtGo// typed under the review<Esc>:write<CR>gt')
      local typed = base .. '// typed under the review\n'
      child:wait('the review is shown again', [[require('understudy.review').current() ~= nil]])
      equal(workspace:read('src/lib.rs'), typed, 'what was typed is on disk')
      child:type(':Understudy apply<CR>')
      local outcome = child:outcome(1)
      equal(outcome.outcome, 'moved', outcome.sentence)
      child:expect_warning('moved: nothing was written')
      equal(workspace:read('src/lib.rs'), typed, 'nothing is written')
      child:wait(
        'the new tree is reviewed',
        [[(function(tree)
        local review = require('understudy.review').current()
        return review.line.tree ~= tree and review.line.kept_verdict == 'verified' and #review.report.hunks == 1
      end)(...)]],
        task.tree
      )
      child:type(':Understudy apply<CR>')
      outcome = child:outcome(2)
      equal(outcome.outcome, 'applied', outcome.sentence)
      equal(workspace:read('src/lib.rs'), with(typed, FIRST), 'typed text and the kept hunk')
    end,
  },
  {
    name = 'hunks are rejected as fast as one types, and kept again by range',
    run = function(child)
      child:edit('src/lib.rs')
      child:command('Understudy new fix warnings')
      child:wait_for_task('review', 'verified')
      child:review()
      child:type('gg]cR]cR')
      child:wait('both are rejected', [[vim.tbl_count(require('understudy.review').current().rejected) == 2]])
      child:command('%Understudy keep')
      child:wait(
        'both are kept',
        [[(function()
        local review = require('understudy.review').current()
        return vim.tbl_count(review.rejected) == 0 and review.line.kept_verdict == 'verified'
      end)()]]
      )
    end,
  },
  {
    name = 'a running task is cancelled',
    archive = 'waits',
    run = function(child)
      child:edit('src/lib.rs')
      child:command('Understudy new fix warnings')
      child:wait(
        'the task runs',
        [[(function()
        local client = vim.lsp.get_clients({ name = 'understudy' })[1]
        local _, line = next(require('understudy.tasks').of(client.id))
        return line and line.status == 'running'
      end)()]]
      )
      child:command('Understudy cancel')
      local task = child:wait_for_task('ended')
      equal(task.verdict, 'cancelled', 'the verdict')
    end,
  },
}
