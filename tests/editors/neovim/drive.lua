--- Runs every scenario in a Neovim of its own and prints which held.
local here = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2))
package.path = here .. '/?.lua;' .. package.path

local Child = require('child')
local Workspace = require('workspace')

local pattern = _G.arg[1] or ''
local passed, failed = 0, 0
local started = vim.uv.hrtime()

for _, file in ipairs(vim.fn.sort(vim.fn.glob(here .. '/scenarios/*.lua', false, true))) do
  for _, scenario in ipairs(dofile(file)) do
    if scenario.name:find(pattern, 1, true) then
      local begun = vim.uv.hrtime()
      local workspace = Workspace.new(scenario.archive or 'warns')
      local child = Child.new(workspace)
      local ok, why = xpcall(function()
        scenario.run(child, workspace)
        child:expect_no_errors()
      end, debug.traceback)
      if not ok then
        why = ('%s\n%s'):format(why, child:picture())
      end
      child:stop()
      local seconds = (vim.uv.hrtime() - begun) / 1e9
      io.stdout:write(('%s %5.1f s  %s\n'):format(ok and 'ok    ' or 'FAILED', seconds, scenario.name))
      if ok then
        passed = passed + 1
      else
        failed = failed + 1
        io.stdout:write('    ' .. why:gsub('\n', '\n    ') .. '\n')
      end
    end
  end
end

local total = (vim.uv.hrtime() - started) / 1e9
local version = tostring(vim.version()):gsub('%+.*', '')
io.stdout:write(('Neovim %s: %d passed, %d failed in %.0f s\n'):format(version, passed, failed, total))
os.exit(failed == 0 and passed > 0 and 0 or 1)
