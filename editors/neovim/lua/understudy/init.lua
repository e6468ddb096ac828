--- What other configuration may use: `require('understudy').status()`.
local M = {}

--- More important first.
local ORDER = { 'publishing', 'running', 'checking', 'waiting', 'needs you', 'review', 'interrupted' }

---@param lines table<string, understudy.TaskLine>
---@param status string
---@return understudy.TaskLine?
local function find(lines, status)
  for _, line in vim.spairs(lines) do
    if line.status == status then
      return line
    end
  end
end

--- One line for the status line: what goes on, or waits, in the workspace of the current buffer; empty if nothing does.
---@return string
function M.status()
  if not package.loaded['understudy.tasks'] then
    return ''
  end
  local clients = vim.lsp.get_clients({ name = 'understudy', bufnr = 0 })
  if #clients == 0 then
    clients = vim.lsp.get_clients({ name = 'understudy' })
  end
  local tasks = require('understudy.tasks')
  for _, status in ipairs(ORDER) do
    for _, client in ipairs(clients) do
      local line = find(tasks.of(client.id), status)
      if line then
        local count = line.total > 0 and status == 'running' and (' %d/%d'):format(line.done, line.total) or ''
        local spent = tasks.spending(line)
        spent = spent ~= '' and status == 'running' and (' (%s)'):format(spent) or ''
        return ('understudy: %s: %s%s%s'):format(line.title, tasks.summary(line), count, spent)
      end
    end
  end
  return ''
end

return M
