--- `:checkhealth understudy`.
local client = require('understudy.client')
local config = require('understudy.config')

local M = {}

--- The doctor tries things out; longer than this it does not take.
local DOCTOR_MILLISECONDS = 60000

---@param arguments string[]
---@param milliseconds integer
---@return vim.SystemCompleted
local function run(arguments, milliseconds)
  local command = vim.list_extend({ (client.program()) }, arguments)
  return vim.system(command, { text = true, timeout = milliseconds }):wait()
end

local function editor()
  vim.health.start('Neovim')
  if vim.fn.has('nvim-0.10.4') == 1 then
    vim.health.ok(tostring(vim.version()))
  else
    vim.health.error(tostring(vim.version()) .. ' is too old: 0.10.4 or later is needed')
  end
  local mistakes = config.mistakes()
  for _, mistake in ipairs(mistakes) do
    vim.health.warn(mistake)
  end
  if #mistakes == 0 then
    vim.health.ok('vim.g.understudy is in order')
  end
end

---@return boolean
local function program()
  vim.health.start('Program')
  local name, is_there = client.program()
  if not is_there then
    vim.health.error(('`%s` is not there'):format(name), {
      'put `understudy` on PATH',
      "or say where it is: vim.g.understudy = { cmd = '/path/to/understudy' }",
    })
    return false
  end
  local version = run({ '--version' }, 5000)
  if version.code == 0 then
    vim.health.ok(('%s: %s'):format(vim.fn.exepath(name), vim.trim(version.stdout)))
  else
    vim.health.error(('`%s --version` failed: %s'):format(name, vim.trim(version.stderr or '')))
  end
  return version.code == 0
end

local function servers()
  vim.health.start('Servers')
  local all = client.all()
  if #all == 0 then
    vim.health.info('none runs; open a file of a workspace')
  end
  for _, each in ipairs(all) do
    local extension = vim.tbl_get(each.server_capabilities or {}, 'experimental', 'understudy', 'protocol')
    local text = ('%s: buffers: %d, %s'):format(
      each.config.root_dir,
      vim.tbl_count(each.attached_buffers),
      each.offset_encoding
    )
    if extension == 1 then
      vim.health.ok(text)
    else
      vim.health.warn(text .. ': the server does not speak protocol 1 with this client; is it another version?')
    end
  end
end

local function doctor()
  vim.health.start('Doctor')
  local answer = run({ 'doctor' }, DOCTOR_MILLISECONDS)
  for line in vim.gsplit(vim.trim(answer.stdout or ''), '\n', { plain = true }) do
    vim.health.info(line)
  end
  if answer.code == 0 then
    vim.health.ok('everything that tasks need works')
  else
    vim.health.warn('something that tasks need does not work: see above')
  end
end

function M.check()
  editor()
  if program() then
    servers()
    doctor()
  end
end

return M
