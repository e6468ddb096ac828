--- How the developer hears of something: one line, or a scratch window when more was asked for.
local M = {}

---@param text string
---@return string
local function one_line(text)
  return (text:gsub('%s*[\r\n]+%s*', ' '))
end

--- An answer to something that the developer just did.
---@param text string
---@param level? integer
function M.answer(text, level)
  vim.notify('understudy: ' .. one_line(text), level or vim.log.levels.INFO)
end

--- The same for something that was refused.
---@param text string
function M.refuse(text)
  M.answer(text, vim.log.levels.WARN)
end

--- News that nobody waits for: never longer than the message line, so that typing is not interrupted.
---@param text string
function M.news(text)
  local line = 'understudy: ' .. one_line(text)
  local room = vim.v.echospace
  if room > 8 and vim.fn.strdisplaywidth(line) > room then
    line = vim.fn.strcharpart(line, 0, room - 1) .. '…'
  end
  vim.notify(line, vim.log.levels.INFO)
end

--- A text in a window of its own, closed by `q`.
---@param name string
---@param text string
function M.show(name, text)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split((text:gsub('\n$', '')), '\n', { plain = true }))
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].bufhidden = 'wipe'
  vim.cmd('botright split')
  vim.api.nvim_win_set_buf(0, buffer)
  -- The name is taken while another window shows an older text of it.
  pcall(vim.api.nvim_buf_set_name, buffer, 'understudy://' .. name)
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buffer, desc = 'Close' })
end

--- A text over the others, as Markdown, closed by `q`.
---@param title string
---@param text string
function M.float(title, text)
  local buffer = vim.api.nvim_create_buf(false, true)
  local lines = vim.split((text:gsub('\n$', '')), '\n', { plain = true })
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].filetype = 'markdown'
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].bufhidden = 'wipe'
  local width = math.max(20, math.min(100, vim.o.columns - 8))
  local height = math.max(3, math.min(#lines + 2, vim.o.lines - 6))
  local window = vim.api.nvim_open_win(buffer, true, {
    relative = 'editor',
    row = math.floor((vim.o.lines - height) / 2) - 1,
    col = math.floor((vim.o.columns - width) / 2),
    width = width,
    height = height,
    style = 'minimal',
    border = 'rounded',
    title = (' %s '):format(title),
  })
  vim.wo[window].wrap = true
  vim.wo[window].linebreak = true
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buffer, desc = 'Close' })
end

return M
