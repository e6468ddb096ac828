--- With rust-analyzer attached to the same buffers.

return {
  {
    name = 'with rust-analyzer beside us: one encoding, its diagnostics and our walk, and it stays out of reviews',
    run = function(child, workspace)
      local base = workspace:read('src/lib.rs')
      child:lua([[
        vim.api.nvim_create_autocmd('FileType', { pattern = 'rust', callback = function(event)
          if vim.bo[event.buf].buftype == '' then
            vim.lsp.start({ name = 'rust-analyzer', cmd = { vim.env.RUST_ANALYZER }, root_dir = vim.fn.getcwd() })
          end
        end })
      ]])
      child:edit('src/lib.rs')
      child:wait(
        'rust-analyzer is attached',
        [[(function()
        local client = vim.lsp.get_clients({ name = 'rust-analyzer', bufnr = 0 })[1]
        return client and client.initialized
      end)()]]
      )
      local encodings = child:lua([[return vim.tbl_map(function(client)
        return client.offset_encoding
      end, vim.lsp.get_clients({ bufnr = 0 }))]])
      assert(#encodings == 2 and encodings[1] == encodings[2], vim.inspect(encodings))
      child:command('Understudy new fix warnings')
      child:wait_for_task('review', 'verified')
      child:review()
      child:wait(
        'no server is attached to a review',
        [[(function()
        for _, window in pairs(require('understudy.review').current().windows) do
          local buffer = vim.api.nvim_win_get_buf(window)
          if vim.bo[buffer].filetype ~= 'rust' or #vim.lsp.get_clients({ bufnr = buffer }) > 0 then
            return false
          end
        end
        return true
      end)()]]
      )
      child:command('Understudy apply')
      local outcome = child:outcome(1)
      assert(outcome.outcome == 'applied', outcome.sentence)
      assert(workspace:read('src/lib.rs') == base:gsub('let mut ', 'let '))
      child:wait(
        'rust-analyzer has the new text',
        [[(function()
        local client = vim.lsp.get_clients({ name = 'rust-analyzer', bufnr = 0 })[1]
        return client and not vim.bo.modified
      end)()]]
      )
    end,
  },
}
