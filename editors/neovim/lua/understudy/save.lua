--- Saves what the server has edited by an approval, so that exactly the approved bytes reach the disk.
---
--- `BufWritePre` does not run: format-on-save and the trimming of blanks would write bytes that nobody has checked or
--- approved. Everything that follows a write does run, so that linters and other servers hear of it.
local M = {}

---@param buffer integer
---@return string
local function text_of(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
end

---@param buffer integer
---@return boolean saved
local function write(buffer)
  local approved = text_of(buffer)
  -- A final newline is part of the text: the option would add one that the diff does not have.
  local adds_newline = vim.bo[buffer].fixendofline
  vim.bo[buffer].fixendofline = false
  local written = pcall(vim.api.nvim_buf_call, buffer, function()
    vim.cmd('silent noautocmd write')
  end)
  vim.bo[buffer].fixendofline = adds_newline
  if not written or vim.bo[buffer].modified then
    return false
  end
  -- A hook that fails has not unwritten the file.
  pcall(vim.api.nvim_exec_autocmds, 'BufWritePost', { buffer = buffer, modeline = false })
  return not vim.bo[buffer].modified and text_of(buffer) == approved
end

--- Saves these documents and names those that are not saved, or do not hold the approved text any more.
---@param uris string[]
---@return string[] unsaved
function M.save(uris)
  local unsaved = {}
  for _, uri in ipairs(uris) do
    local buffer = vim.uri_to_bufnr(uri)
    local is_open = vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == ''
    if not is_open or (vim.bo[buffer].modified and not write(buffer)) then
      table.insert(unsaved, uri)
    end
  end
  return unsaved
end

return M
