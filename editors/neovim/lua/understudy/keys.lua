--- Mappings inside the buffers of a review, and nowhere else.
local M = {}

--- Default key, `<Plug>` name, command, description. A key is left alone where the user maps the `<Plug>` name.
local KEYS = {
  { 'K', 'keep', 'keep', 'Keep the hunk' },
  { 'R', 'reject', 'reject', 'Reject the hunk' },
  { ']f', 'next-file', 'next', 'Next file' },
  { '[f', 'previous-file', 'previous', 'Previous file' },
  { 'gr', 'receipt', 'receipt', 'Show the receipt of a check' },
  { 'q', 'close', 'close', 'Close the review' },
}

--- The names that users can map; they do something in a review only.
function M.define()
  for _, key in ipairs(KEYS) do
    local _, name, command, description = unpack(key)
    local plug = ('<Plug>(understudy-%s)'):format(name)
    vim.keymap.set('n', plug, ('<Cmd>Understudy %s<CR>'):format(command), { desc = description })
    if command == 'keep' or command == 'reject' then
      vim.keymap.set('x', plug, (':Understudy %s<CR>'):format(command), { desc = description, silent = true })
    end
  end
end

---@param buffer integer
function M.map(buffer)
  for _, key in ipairs(KEYS) do
    local default, name, command, description = unpack(key)
    local plug = ('<Plug>(understudy-%s)'):format(name)
    local modes = (command == 'keep' or command == 'reject') and { 'n', 'x' } or { 'n' }
    for _, mode in ipairs(modes) do
      if vim.fn.hasmapto(plug, mode) == 0 then
        vim.keymap.set(mode, default, plug, { buffer = buffer, desc = description, remap = true, nowait = true })
      end
    end
  end
end

return M
