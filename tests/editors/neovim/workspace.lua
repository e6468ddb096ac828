--- A temporary copy of a small crate, in git.
local Workspace = {}
Workspace.__index = Workspace

local count = 0

---@param archive string Name below `tests/data`.
function Workspace.new(archive)
  count = count + 1
  local self = setmetatable({ path = ('%s/%s-%d'):format(vim.env.SCRATCH, archive, count) }, Workspace)
  local made = vim.system({ 'sh', vim.env.GET .. '/workspace', archive, self.path }, { text = true }):wait()
  assert(made.code == 0, made.stderr)
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
