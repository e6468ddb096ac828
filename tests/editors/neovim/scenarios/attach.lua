--- Which buffers belong to the server.

local function clients_of(child)
  return child:lua([[return #vim.lsp.get_clients({ name = 'understudy', bufnr = 0 })]])
end

return {
  {
    name = 'attaches to every file of a workspace, whatever its language, and starts one server',
    run = function(child, workspace)
      workspace:write('NOTES', 'no file type\n')
      for _, path in ipairs({ 'src/lib.rs', 'Cargo.toml', 'NOTES', '.gitignore', 'new_file.rs' }) do
        child:edit(path)
      end
      assert(child:lua([[return #vim.lsp.get_clients({ name = 'understudy' })]]) == 1)
    end,
  },
  {
    name = 'starts one server for each workspace, and commands go to that of the current buffer',
    run = function(child, workspace)
      local other = require('workspace').new('sums')
      child:edit('src/lib.rs')
      child:edit(other.path .. '/src/lib.rs')
      assert(child:lua([[return #vim.lsp.get_clients({ name = 'understudy' })]]) == 2)
      local root = child:lua([[return require('understudy.client').current().config.root_dir]])
      assert(root == other.path, root)
      child:command('buffer ' .. workspace.path .. '/src/lib.rs')
      root = child:lua([[return require('understudy.client').current().config.root_dir]])
      assert(root == workspace.path, root)
    end,
  },
  {
    name = 'never attaches to buffers that are no files of a workspace',
    run = function(child, workspace)
      child:edit('src/lib.rs')
      local outside = vim.fs.dirname(workspace.path) .. '/outside.rs'
      for _, command in ipairs({
        'help',
        'enew',
        'new | setlocal buftype=nofile | file scratch.rs',
        'edit .git/config',
        'edit .git/COMMIT_EDITMSG',
        'edit ' .. outside,
        'terminal true',
        'copen',
      }) do
        child:command(command)
        -- What attaches does so on the next turns of the loop at the latest.
        child:lua([[vim.wait(60, function() return false end, 10)]])
        assert(clients_of(child) == 0, command)
      end
    end,
  },
  {
    name = 'attaches to nothing by itself where the developer says so, and starts when asked',
    settings = 'auto_attach: v:false',
    run = function(child)
      child:command('edit src/lib.rs')
      child:lua([[vim.wait(60, function() return false end, 10)]])
      assert(clients_of(child) == 0)
      child:command('Understudy tasks')
      child:wait('the list is shown', [[vim.fn.search('no task yet') > 0]])
    end,
  },
  {
    name = 'knows the extension, and offers nothing that other servers answer',
    run = function(child)
      child:edit('src/lib.rs')
      local capabilities = child:lua([[return vim.lsp.get_clients({ name = 'understudy' })[1].server_capabilities]])
      assert(capabilities.experimental.understudy.protocol == 1)
      for _, name in ipairs({ 'hoverProvider', 'completionProvider', 'renameProvider', 'documentFormattingProvider' }) do
        assert(not capabilities[name], name)
      end
    end,
  },
  {
    name = 'leaves the keys of the developer alone',
    run = function(child)
      child:edit('src/lib.rs')
      local mapped = child:lua([[
        local found = {}
        for _, mode in ipairs({ 'n', 'x', 'i', 'o' }) do
          for _, map in ipairs(vim.list_extend(vim.api.nvim_get_keymap(mode), vim.api.nvim_buf_get_keymap(0, mode))) do
            if (map.desc or ''):lower():find('hunk') or (map.rhs or ''):find('Understudy') then
              if not vim.startswith(map.lhs, '<Plug>') then table.insert(found, map.lhs) end
            end
          end
        end
        return found
      ]])
      assert(#mapped == 0, vim.inspect(mapped))
    end,
  },
}
