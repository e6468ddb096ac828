--- Commands of code actions that this client carries out itself, because their answer is something to show.
local M = {}

---@param ctx lsp.HandlerContext
---@return vim.lsp.Client
local function client_of(ctx)
  return assert(vim.lsp.get_client_by_id(ctx.client_id))
end

---@param argument any
---@return string?
local function task_of(argument)
  return type(argument) == 'table' and argument.task or nil
end

---@param name string
---@param title string
---@return fun(command: lsp.Command, ctx: lsp.HandlerContext)
local function show_text(name, title)
  return function(command, ctx)
    local argument = command.arguments and command.arguments[1] or {}
    require('understudy.client').execute(client_of(ctx), name, argument, function(answer)
      require('understudy.say').show(title, answer.text)
    end)
  end
end

---@return table<string, fun(command: lsp.Command, ctx: lsp.HandlerContext)>
function M.commands()
  return {
    ['understudy.review.open'] = function(command, ctx)
      local of = client_of(ctx)
      require('understudy.commands').review(of, task_of(command.arguments[1]))
    end,
    ['understudy.apply'] = function(command, ctx)
      require('understudy.verdicts').apply(client_of(ctx), task_of(command.arguments[1]))
    end,
    ['understudy.undo'] = function(command, ctx)
      require('understudy.verdicts').undo(client_of(ctx), task_of(command.arguments[1]))
    end,
    ['understudy.task.create'] = function(command, ctx)
      require('understudy.starting').create(client_of(ctx), command.arguments[1])
    end,
    ['understudy.client.rename'] = function(command, ctx)
      require('understudy.starting').rename(client_of(ctx), command.arguments[1])
    end,
    ['understudy.client.explain'] = function(command, ctx)
      require('understudy.owed').explain(client_of(ctx), command.arguments[1])
    end,
    ['understudy.plan.open'] = function(command, ctx)
      require('understudy.owed').plan(client_of(ctx), task_of(command.arguments[1]) or '')
    end,
    ['understudy.plan.approve'] = function(command, ctx)
      require('understudy.owed').approve(client_of(ctx), task_of(command.arguments[1]) or '')
    end,
    ['understudy.check.receipt'] = show_text('check.receipt', 'receipt'),
    ['understudy.check.compare'] = show_text('check.compare', 'compare'),
    ['understudy.doctor'] = show_text('doctor', 'doctor'),
  }
end

return M
