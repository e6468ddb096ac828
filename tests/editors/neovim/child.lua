--- A Neovim under test: started with the plugin and nothing else, typed into and looked at over RPC.
local Child = {}
Child.__index = Child

--- Longer than any condition takes on a busy machine; nothing waits for the whole of it unless it fails.
local PATIENCE = 60000

---@param workspace table
---@param settings? string Entries of `g:understudy` beside the program, as Vim script.
function Child.new(workspace, settings)
  local self = setmetatable({}, Child)
  local command = { vim.env.NVIM, '--embed', '--headless', '--clean' }
  vim.list_extend(command, { '--cmd', 'set runtimepath^=' .. vim.env.PLUGIN .. ' columns=120 lines=40' })
  vim.list_extend(command, { '--cmd', ('let g:understudy = #{cmd: $UNDERSTUDY_BINARY, %s}'):format(settings or '') })
  self.channel = vim.fn.jobstart(command, { rpc = true, cwd = workspace.path })
  assert(self.channel > 0, 'Neovim does not start')
  self:lua([[
    messages, warnings, outcomes = {}, {}, {}
    vim.notify = function(text, level)
      table.insert(level and level > vim.log.levels.INFO and warnings or messages, text)
    end
    local function note(event) table.insert(outcomes, event.data) end
    vim.api.nvim_create_autocmd('User', { pattern = 'UnderstudyOutcome', callback = note })
  ]])
  return self
end

--- Runs Lua in the child and returns what it returns.
function Child:lua(code, ...)
  return vim.rpcrequest(self.channel, 'nvim_exec_lua', code, { ... })
end

function Child:command(text)
  return vim.rpcrequest(self.channel, 'nvim_command', text)
end

--- Types keys as a person would: they go through mappings and wait for their turn.
function Child:type(keys)
  vim.rpcrequest(self.channel, 'nvim_input', keys)
end

--- Waits until an expression is neither false nor nil in the child, and returns its value.
function Child:wait(what, code, ...)
  local arguments = { ... }
  local value
  local function holds()
    value = self:lua('return ' .. code, unpack(arguments))
    return value and value ~= vim.NIL
  end
  assert(vim.wait(PATIENCE, holds, 20), ('never came: %s'):format(what))
  return value
end

--- Opens a file of the workspace and waits until the server is attached to it.
function Child:edit(path)
  self:command('edit ' .. vim.fn.fnameescape(path))
  self:wait(
    'the server attaches to ' .. path,
    [[#vim.tbl_filter(function(client)
    return client.initialized
  end, vim.lsp.get_clients({ name = 'understudy', bufnr = 0 })) == 1]]
  )
end

function Child:lines(buffer)
  return self:lua('return vim.api.nvim_buf_get_lines(..., 0, -1, false)', buffer or 0)
end

--- The present state of the only task of the only server.
function Child:task()
  return self:lua([[
    local client = vim.lsp.get_clients({ name = 'understudy' })[1]
    return client and select(2, next(require('understudy.tasks').of(client.id)))
  ]])
end

--- Waits until the only task has this status and, if given, this `kept_verdict`.
function Child:wait_for_task(status, kept_verdict)
  self:wait(
    'the task is in ' .. status,
    [[(function(status, kept_verdict)
    local client = vim.lsp.get_clients({ name = 'understudy' })[1]
    local _, line = next(require('understudy.tasks').of(client.id))
    return line and line.status == status and (not kept_verdict or line.kept_verdict == kept_verdict)
  end)(...)]],
    status,
    kept_verdict
  )
  return self:task()
end

--- Opens the review of the only task and waits until both sides are there.
function Child:review()
  self:command('Understudy review')
  self:wait(
    'the review is shown',
    [[(function()
    local review = require('understudy.review').current()
    return review and vim.wo[review.windows.tree].diff and vim.wo[review.windows.base].diff
  end)()]]
  )
end

--- Waits for the next outcome of a publication and returns it.
function Child:outcome(number)
  return self:wait('outcome ' .. number, 'outcomes[...]', number)
end

--- Takes the only warning there is.
function Child:expect_warning(text)
  local warnings = self:lua('local taken = warnings; warnings = {}; return taken')
  assert(#warnings == 1 and warnings[1]:find(text, 1, true), vim.inspect(warnings))
end

--- Nothing that went wrong behind the back of a scenario.
function Child:expect_no_errors()
  local warnings = self:lua('return warnings')
  assert(#warnings == 0, vim.inspect(warnings))
  local printed = self:lua([[return vim.api.nvim_exec2('messages', { output = true }).output]])
  assert(not printed:find('[Ee]rror') and not printed:find('E%d+:'), printed)
end

--- What a person would see, for failures.
function Child:picture()
  local ok, text = pcall(function()
    return self:lua([[
      local client = vim.lsp.get_clients({ name = 'understudy' })[1]
      local tasks = client and require('understudy.tasks').of(client.id)
      return vim.inspect({
        buffer = vim.api.nvim_buf_get_name(0),
        lines = vim.api.nvim_buf_get_lines(0, 0, 20, false),
        messages = messages,
        warnings = warnings,
        outcomes = outcomes,
        tasks = tasks,
        printed = vim.api.nvim_exec2('messages', { output = true }).output,
      })
    ]])
  end)
  return text
end

--- Forgets all tasks, so that the next scenario finds none.
function Child:forget()
  self:lua([[
    local client, waiting = require('understudy.client'), 0
    for _, of in ipairs(client.all()) do
      for id, line in pairs(require('understudy.tasks').of(of.id)) do
        waiting = waiting + 1
        local function purge()
          client.execute(of, 'task.purge', { task = id }, function() waiting = waiting - 1 end)
        end
        if vim.list_contains(line.next, 'cancel') then
          client.execute(of, 'task.cancel', { task = id }, purge)
        else
          purge()
        end
      end
    end
    assert(vim.wait(10000, function() return waiting == 0 end, 5), 'tasks are not forgotten: ' .. vim.inspect(warnings))
  ]])
end

function Child:stop()
  pcall(vim.rpcnotify, self.channel, 'nvim_command', 'qall!')
  if vim.fn.jobwait({ self.channel }, 10000)[1] < 0 then
    vim.fn.jobstop(self.channel)
  end
end

return Child
