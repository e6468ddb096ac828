--- Defines `:Understudy` and attaches to the files of workspaces; everything else is loaded when it is used.
if vim.g.loaded_understudy or vim.fn.has('nvim-0.10') == 0 then
  return
end
vim.g.loaded_understudy = true

vim.api.nvim_create_user_command('Understudy', function(command)
  require('understudy.commands').run(command)
end, {
  nargs = '*',
  range = true,
  desc = 'Tasks that are rehearsed, proved and applied',
  complete = function(lead, line)
    return require('understudy.commands').complete(lead, line)
  end,
})

require('understudy.keys').define()

vim.api.nvim_set_hl(0, 'UnderstudyKept', { default = true, link = 'DiagnosticOk' })
vim.api.nvim_set_hl(0, 'UnderstudyRejected', { default = true, link = 'DiagnosticWarn' })

local group = vim.api.nvim_create_augroup('understudy', {})

vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  pattern = 'understudy://*',
  desc = 'Fill a read-only file of a task',
  callback = function(event)
    require('understudy.documents').read(event.buf)
  end,
})

vim.api.nvim_create_autocmd({ 'TabClosed', 'WinClosed' }, {
  group = group,
  desc = 'Forget closed reviews',
  callback = vim.schedule_wrap(function()
    if package.loaded['understudy.review'] then
      require('understudy.review').sweep()
    end
  end),
})

local config = require('understudy.config').get()
if not config.auto_attach then
  return
end

-- `vim.lsp.enable` waits for a file type, which not every file of a workspace has.
vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufFilePost' }, {
  group = group,
  desc = 'Attach to files of workspaces',
  callback = function(event)
    local is_disabled = vim.lsp.is_enabled and not vim.lsp.is_enabled('understudy')
    if not is_disabled then
      require('understudy.client').attach(event.buf)
    end
  end,
})

if vim.lsp.enable then
  vim.lsp.enable('understudy')
end
if vim.v.vim_did_enter == 1 then
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) then
      require('understudy.client').attach(buffer)
    end
  end
end
