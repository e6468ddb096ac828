--- Buffers `understudy://TASK/TREE/PATH`: one file of a tree of a task, as it is there, never to be written.
local client = require('understudy.client')
local tasks = require('understudy.tasks')

local M = {}

---@param task string
---@param tree string
---@param path string
---@return string
function M.name(task, tree, path)
  return ('understudy://%s/%s/%s'):format(task, tree, path)
end

--- What the protocol calls the same document.
---@param name string
---@return string
local function uri_of(name)
  return 'understudy:/' .. vim.uri_encode(name:sub(#'understudy://' + 1), 'rfc3986')
end

---@param buffer integer
---@param answer {text?: string, binary: boolean}
local function put(buffer, answer)
  local lines, has_newline = {}, true
  if answer.binary then
    lines = { '(not text)' }
  elseif answer.text and answer.text ~= '' then
    lines = vim.split(answer.text, '\n', { plain = true })
    has_newline = lines[#lines] == ''
    if has_newline then
      table.remove(lines)
    end
  end
  -- It may have been filled before.
  vim.bo[buffer].readonly = false
  vim.bo[buffer].modifiable = true
  vim.bo[buffer].undolevels = -1
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].endofline = has_newline
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].readonly = true
  vim.bo[buffer].modified = false
end

---@param name string
---@return integer?
local function find(name)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(buffer) == name then
      return buffer
    end
  end
end

--- The buffer of a document, empty until the server has answered. `filled` is called when it has.
---@param of vim.lsp.Client
---@param name string
---@param filled fun(buffer: integer)
---@return integer buffer
function M.open(of, name, filled)
  local buffer = find(name)
  if not buffer then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, name)
  end
  -- `nofile` keeps other language servers away and makes every `:write` fail: saving never means approval.
  vim.bo[buffer].buftype = 'nofile'
  vim.bo[buffer].bufhidden = 'hide'
  vim.bo[buffer].swapfile = false
  client.request(of, 'understudy/document', { uri = uri_of(name) }, function(err, answer)
    if not vim.api.nvim_buf_is_valid(buffer) then
      return
    end
    put(buffer, err and { text = err.message, binary = false } or answer)
    local path = name:match('^understudy://[^/]*/[^/]*/(.*)$')
    local kind = vim.filetype.match({ filename = path, buf = buffer })
    if kind and vim.bo[buffer].filetype ~= kind then
      vim.bo[buffer].filetype = kind
    end
    filled(buffer)
  end)
  return buffer
end

--- Fills a buffer that was opened by its name, from the server that knows the task.
---@param buffer integer
function M.read(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  local task = name:match('^understudy://([^/]+)/[^/]+/.')
  for _, of in ipairs(client.all()) do
    if task and tasks.get(of.id, task) then
      return M.open(of, name, function() end)
    end
  end
end

return M
