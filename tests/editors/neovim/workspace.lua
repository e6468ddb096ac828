--- A temporary copy of a small crate, in git.
local Workspace = {}
Workspace.__index = Workspace

---@type table<string, table>
local made = {}

local function run(command, cwd)
  local result = vim.system(command, { cwd = cwd, text = true }):wait()
  assert(result.code == 0, table.concat(command, ' ') .. ': ' .. (result.stderr or ''))
end

--- The same folder for every scenario, as it was at first: what was checked once need not be checked again.
---@param archive string Name below `tests/data`.
function Workspace.new(archive)
  local self = made[archive]
  if self then
    run({ 'git', 'reset', '-q', '--hard' }, self.path)
    run({ 'git', 'clean', '-fdqx' }, self.path)
    return self
  end
  self = setmetatable({ path = ('%s/%s'):format(vim.env.SCRATCH, archive) }, Workspace)
  run({ 'sh', vim.env.GET .. '/workspace', archive, self.path })
  made[archive] = self
  return self
end

function Workspace:read(path)
  local file = assert(io.open(self.path .. '/' .. path, 'rb'))
  local text = file:read('*a')
  file:close()
  return text
end

function Workspace:write(path, text)
  local file = assert(io.open(self.path .. '/' .. path, 'wb'))
  file:write(text)
  file:close()
end

return Workspace
