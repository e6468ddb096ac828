--- Reads `vim.g.understudy`. There is nothing to set up: what is missing has a default.
local M = {}

local LIMITS = { 'timeout', 'check_timeout', 'max_attempts' }

---@return understudy.Options
local function options()
  local given = vim.g.understudy
  return type(given) == 'table' and given or {}
end

---@return understudy.Config
function M.get()
  local given = options()
  local cmd = given.cmd or 'understudy'
  local limits = {}
  for _, name in ipairs(LIMITS) do
    limits[name] = type(given[name]) == 'number' and given[name] or nil
  end
  return {
    cmd = type(cmd) == 'table' and vim.deepcopy(cmd) or { cmd },
    auto_attach = given.auto_attach ~= false,
    notify = given.notify ~= false,
    limits = limits,
  }
end

--- What stands in `vim.g.understudy` and means nothing, one sentence each.
---@return string[]
function M.mistakes()
  local given = vim.g.understudy
  if given == nil then
    return {}
  end
  if type(given) ~= 'table' then
    return { 'vim.g.understudy is not a table' }
  end
  local types = {
    cmd = { 'string', 'table' },
    auto_attach = { 'boolean' },
    notify = { 'boolean' },
    timeout = { 'number' },
    check_timeout = { 'number' },
    max_attempts = { 'number' },
  }
  local found = {}
  for name, value in vim.spairs(given) do
    local allowed = types[name]
    if not allowed then
      table.insert(found, ('vim.g.understudy.%s is not an option'):format(name))
    elseif not vim.list_contains(allowed, type(value)) then
      table.insert(found, ('vim.g.understudy.%s is to be a %s'):format(name, table.concat(allowed, ' or a ')))
    end
  end
  return found
end

return M
