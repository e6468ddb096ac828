--- Files as they are: line ends, final newlines, several files, files that are not open.

local function fixed(text)
  return (text:gsub('let mut ', 'let '))
end

local function reviewed(child)
  child:command('Understudy new fix warnings')
  child:wait_for_task('review', 'verified')
  child:review()
end

local function applied(child, number)
  child:command('Understudy apply')
  local outcome = child:outcome(number or 1)
  assert(outcome.outcome == 'applied', outcome.sentence)
  return outcome
end

return {
  {
    name = 'line ends and a missing final newline stay as they are',
    run = function(child, workspace)
      local base = workspace:read('src/lib.rs'):gsub('\n', '\r\n'):gsub('\r\n$', '')
      workspace:write('src/lib.rs', base)
      child:edit('src/lib.rs')
      reviewed(child)
      local outcome = applied(child)
      assert(#outcome.unsaved == 0, vim.inspect(outcome.unsaved))
      assert(workspace:read('src/lib.rs') == fixed(base), workspace:read('src/lib.rs'))
      assert(not child:lua('return vim.bo.modified'))
    end,
  },
  {
    name = 'a file that is not open is written too, and not opened for it',
    run = function(child, workspace)
      local base = workspace:read('src/lib.rs')
      child:edit('Cargo.toml')
      reviewed(child)
      applied(child)
      assert(workspace:read('src/lib.rs') == fixed(base))
      assert(child:lua([[return vim.fn.bufexists(...)]], workspace.path .. '/src/lib.rs') == 0)
    end,
  },
  {
    name = 'several files, with names of all kinds, are reviewed one after the other, a rejected one stays as it is',
    run = function(child, workspace)
      local lib = workspace:read('src/lib.rs') .. '\n#[path = "zähler [1] %41.rs"]\nmod more;\n'
      local more = '#[test]\nfn thirds() {\n    let mut third = 3;\n    assert_eq!(third, 3);\n}\n'
      workspace:write('src/lib.rs', lib)
      workspace:write('src/zähler [1] %41.rs', more)
      child:edit('src/lib.rs')
      reviewed(child)
      local function shows(path)
        child:wait(
          path .. ' is shown',
          [[(function(path)
          local review = require('understudy.review').current()
          local buffer = vim.api.nvim_win_get_buf(review.windows.tree)
          return vim.endswith(vim.api.nvim_buf_get_name(buffer), path) and vim.wo[review.windows.tree].diff
            and vim.api.nvim_buf_line_count(buffer) > 1
        end)(...)]],
          path
        )
      end
      shows('/src/lib.rs')
      child:type(']f')
      shows('/src/zähler [1] %41.rs')
      child:wait('the cursor is on the hunk', [[vim.fn.getline('.') == '    let third = 3;']])
      child:type('R')
      child:wait(
        'the hunk is rejected',
        [[(function()
        local review = require('understudy.review').current()
        return vim.tbl_count(review.rejected) == 1 and review.line.kept_verdict == 'verified'
      end)()]]
      )
      child:type('[f')
      shows('/src/lib.rs')
      applied(child)
      assert(workspace:read('src/lib.rs') == fixed(lib))
      assert(workspace:read('src/zähler [1] %41.rs') == more)
    end,
  },
  {
    name = 'what is not verified is written only after a yes to exactly that',
    run = function(child, workspace)
      -- It did not build before and does not afterwards.
      local base = 'mod more;\n' .. workspace:read('src/lib.rs')
      workspace:write('src/lib.rs', base)
      workspace:write('src/more.rs', '')
      child:lua([[
        questions = {}
        vim.fn.confirm = function(text) table.insert(questions, text); return answer end
      ]])
      child:edit('src/lib.rs')
      child:command('Understudy new fix warnings')
      local task = child:wait(
        'the task has ended',
        [[(function()
        local client = vim.lsp.get_clients({ name = 'understudy' })[1]
        local _, line = next(require('understudy.tasks').of(client.id))
        return line and (line.status == 'review' or line.status == 'ended') and line
      end)()]]
      )
      assert(task.status == 'review', vim.inspect(task))
      child:review()
      child:lua('answer = 2')
      child:command('Understudy apply')
      assert(workspace:read('src/lib.rs') == base)
      assert(child:lua('return questions[1]'):find('^Not verified: '), child:lua('return questions[1]'))
      child:lua('answer = 1')
      child:command('Understudy apply')
      assert(child:outcome(1).outcome == 'applied')
      assert(workspace:read('src/lib.rs') == fixed(base))
    end,
  },
  {
    name = 'applying is refused by nobody silently: an unsaved file stays unsaved and is named',
    run = function(child, workspace)
      local base = workspace:read('src/lib.rs')
      child:edit('src/lib.rs')
      child:lua([[vim.api.nvim_buf_set_lines(0, -1, -1, false, { '// not saved' })]])
      reviewed(child)
      local outcome = applied(child)
      assert(vim.deep_equal(outcome.unsaved, { 'src/lib.rs' }), vim.inspect(outcome.unsaved))
      assert(workspace:read('src/lib.rs') == base)
      child:command('buffer src/lib.rs')
      assert(child:lua('return vim.bo.modified'))
      child:command('write')
      assert(workspace:read('src/lib.rs') == fixed(base) .. '// not saved\n')
    end,
  },
}
