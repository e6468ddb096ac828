--- Starting tasks: from a text, and from the name under the cursor.
local client = require('understudy.client')
local say = require('understudy.say')

local M = {}

--- Starts a task and says so.
---@param of vim.lsp.Client
---@param request table|string
function M.create(of, request)
  local argument = type(request) == 'string' and { description = request } or vim.deepcopy(request)
  argument.folder = argument.folder or of.config.root_dir
  client.execute(of, 'task.create', argument, function(answer)
    say.answer(('%s: started (%s)'):format(argument.description or 'prove the working tree', answer.task))
  end)
end

--- Starts the task to rename what stands at a place; without a name it is asked for.
---@param of vim.lsp.Client
---@param place {symbol: string, at: string}
---@param name? string
function M.rename(of, place, name)
  if not name then
    return vim.ui.input({ prompt = ('Rename %s to: '):format(place.symbol) }, function(typed)
      if typed and typed ~= '' then
        M.rename(of, place, typed)
      end
    end)
  end
  M.create(of, ('rename `%s` at %s to `%s`'):format(place.symbol, place.at, name))
end

--- The name under the cursor and where it begins; columns count characters, from 1.
---@param of vim.lsp.Client
---@return {symbol: string, at: string}?
function M.name_at_cursor(of)
  local path = vim.fs.normalize(vim.api.nvim_buf_get_name(0))
  local root = of.config.root_dir .. '/'
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local line = vim.api.nvim_get_current_line()
  local start = column + 1 - #line:sub(1, column + 1):match('[%w_\128-\255]*$')
  local symbol = line:sub(start + 1):match('^[%w_\128-\255]+')
  if not symbol or not vim.startswith(path, root) then
    return nil
  end
  local number = vim.fn.strchars(line:sub(1, start)) + 1
  return { symbol = symbol, at = ('%s:%d:%d'):format(path:sub(#root + 1), row, number) }
end

return M
