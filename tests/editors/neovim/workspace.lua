--- A temporary copy of a small crate, in git.
local Workspace = {}
Workspace.__index = Workspace

local count = 0

local function run(command, cwd)
  local result = vim.system(command, { cwd = cwd, text = true }):wait()
  assert(result.code == 0, table.concat(command, ' ') .. ': ' .. (result.stderr or ''))
  return result.stdout
end

--- Unpacks the sections `-- PATH --` of an archive below `tests/data`.
local function unpack_archive(name, path)
  local file
  for line in io.lines(('%s/%s.txt'):format(vim.env.ARCHIVES, name)) do
    local section = line:match('^%-%- (.+) %-%-$')
    if section then
      if file then
        file:close()
      end
      local target = path .. '/' .. section
      vim.fn.mkdir(vim.fs.dirname(target), 'p')
      file = assert(io.open(target, 'wb'))
    elseif file then
      file:write(line, '\n')
    end
  end
  file:close()
end

function Workspace.new(archive)
  count = count + 1
  local self = setmetatable({ path = ('%s/%s-%d'):format(vim.env.SCRATCH, archive, count) }, Workspace)
  unpack_archive(archive, self.path)
  local identity = { '-c', 'user.name=tester', '-c', 'user.email=tester@localhost' }
  run({ 'git', 'init', '-q', '.' }, self.path)
  run({ 'git', 'add', '-A' }, self.path)
  run(vim.list_extend({ 'git', unpack(identity) }, { 'commit', '-q', '-m', 'start' }), self.path)
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
