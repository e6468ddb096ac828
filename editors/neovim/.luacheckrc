-- What Neovim gives and nothing else; a misspelled global is an error.
std = 'luajit'
max_line_length = 120
read_globals = {
  vim = { other_fields = true, fields = { g = { read_only = false, other_fields = true } } },
}
globals = { 'vim.bo', 'vim.wo', 'vim.b', 'vim.o', 'vim.opt', 'vim.env', 'vim.g' }
