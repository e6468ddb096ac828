--- Runs every scenario in a Neovim of its own and prints which held. A scenario may have parts, which follow one another
--- in the same Neovim.
local here = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2))
package.path = here .. '/?.lua;' .. package.path

local Child = require('child')
local Workspace = require('workspace')

local pattern = _G.arg[1] or ''
local passed, failed = 0, 0

local function seconds_since(begun)
  return (vim.uv.hrtime() - begun) / 1e9
end

--- Runs one part; false if it did not hold.
local function hold(part, child, workspace)
  local begun = vim.uv.hrtime()
  local ok, why = xpcall(function()
    part.run(child, workspace)
    if not part.is_over then
      child:expect_no_errors()
    end
  end, debug.traceback)
  io.stdout:write(('%s %5.1f s  %s\n'):format(ok and 'ok    ' or 'FAILED', seconds_since(begun), part.name))
  if ok then
    passed = passed + 1
  else
    failed = failed + 1
    local text = ('%s\n%s'):format(why, child:picture())
    io.stdout:write('    ' .. text:gsub('\n', '\n    ') .. '\n')
  end
  return ok
end

local function play(scenario)
  local workspace = Workspace.new(scenario.archive or 'warns')
  local child = Child.new(workspace, scenario.settings)
  for _, part in ipairs(scenario.parts or { scenario }) do
    if not hold(part, child, workspace) then
      break
    end
  end
  if not scenario.is_over then
    -- After a failure it may be unable to; that was said.
    pcall(child.forget, child)
  end
  child:stop()
end

local started = vim.uv.hrtime()
for _, file in ipairs(vim.fn.sort(vim.fn.glob(here .. '/scenarios/*.lua', false, true))) do
  for _, scenario in ipairs(dofile(file)) do
    if scenario.name:find(pattern, 1, true) then
      play(scenario)
    end
  end
end

local version = tostring(vim.version()):gsub('%+.*', '')
io.stdout:write(('Neovim %s: %d passed, %d failed in %.0f s\n'):format(version, passed, failed, seconds_since(started)))
os.exit(failed == 0 and passed > 0 and 0 or 1)
