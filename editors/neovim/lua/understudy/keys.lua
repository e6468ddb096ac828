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

--- Whether the user has a key for this. Mappings of buffers do not count: those of a review are ours.
---@param mode string
---@param plug string
---@return boolean
local function is_mapped(mode, plug)
  return vim.iter(vim.api.nvim_get_keymap(mode)):any(function(map)
    return map.rhs ~= nil and map.rhs:find(plug, 1, true) ~= nil
  end)
end

--- The keys that somebody needs first in a review; one that the user chose needs no telling.
---@return string
function M.hint()
  local hints = {}
  for _, key in ipairs(KEYS) do
    local default, name, command = unpack(key)
    local is_basic = command ~= 'previous' and command ~= 'receipt'
    if is_basic and not is_mapped('n', ('<Plug>(understudy-%s)'):format(name)) then
      table.insert(hints, ('%s %s'):format(default, command))
    end
  end
  return table.concat(hints, ', ')
end

---@param buffer integer
function M.map(buffer)
  for _, key in ipairs(KEYS) do
    local default, name, command, description = unpack(key)
    local plug = ('<Plug>(understudy-%s)'):format(name)
    local modes = (command == 'keep' or command == 'reject') and { 'n', 'x' } or { 'n' }
    for _, mode in ipairs(modes) do
      if not is_mapped(mode, plug) then
        vim.keymap.set(mode, default, plug, { buffer = buffer, desc = description, remap = true, nowait = true })
      end
    end
  end
end

return M
