--- For `vim.lsp.config('understudy', ...)` and `vim.lsp.enable('understudy')` of Neovim 0.11 and later.
local client = require('understudy.client')

local config = client.defaults()

--- No file type is named: every file of a workspace belongs to it.
config.root_dir = function(buffer, found)
  local root = client.root(buffer)
  if root and select(2, client.program()) then
    found(root)
  end
end

return config
