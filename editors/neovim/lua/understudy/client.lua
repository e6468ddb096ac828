--- Finds the program, starts the server of a workspace, attaches buffers, sends commands.
local config = require('understudy.config')
local say = require('understudy.say')

local M = {}

M.name = 'understudy'

local is_11 = vim.fn.has('nvim-0.11') == 1

--- The server does not answer within this: something is wrong with it.
local START_MILLISECONDS = 5000

--- Neovim 0.12 hands `null` on as `vim.NIL`, which counts as true; here it is nil everywhere.
---@param value any
---@return any
local function without_null(value)
  if value == vim.NIL then
    return nil
  elseif type(value) == 'table' then
    for key, inner in pairs(value) do
      value[key] = without_null(inner)
    end
  end
  return value
end

--- The workspace of a file: its git top level, otherwise the current folder if the file is in it.
---@param path string
---@return string?
local function workspace_of(path)
  local top = vim.fs.root(path, '.git')
  if top then
    return top
  end
  local current = vim.fs.normalize(vim.fn.getcwd())
  return vim.startswith(path, current .. '/') and current or nil
end

--- The workspace of a buffer; nil for what is no file of one: help, terminals, buffers of plugins, git's own files.
---@param buffer integer
---@return string?
function M.root(buffer)
  if not vim.api.nvim_buf_is_valid(buffer) or vim.bo[buffer].buftype ~= '' then
    return nil
  end
  local name = vim.api.nvim_buf_get_name(buffer)
  if name == '' or name:match('^%a[%w+.-]+:/') then
    return nil
  end
  local path = vim.fs.normalize(name)
  if path:find('/.git/', 1, true) or vim.fn.isdirectory(path) == 1 then
    return nil
  end
  return workspace_of(path)
end

--- What `vim.lsp.start` takes; `lsp/understudy.lua` gives the same to `vim.lsp.config`.
---@return vim.lsp.ClientConfig
function M.defaults()
  local settings = config.get()
  local known = vim.tbl_extend('force', { protocol = 1 }, settings.limits)
  return {
    name = M.name,
    cmd = vim.list_extend(settings.cmd, { 'lsp' }),
    init_options = { understudy = known },
    handlers = {
      ['understudy/taskChanged'] = function(_, line, ctx)
        require('understudy.tasks').changed(ctx.client_id, without_null(line))
      end,
      ['workspace/applyEdit'] = function(err, params, ctx)
        -- The label would be printed once for every file.
        params.label = nil
        return vim.lsp.handlers['workspace/applyEdit'](err, params, ctx)
      end,
      ['understudy/save'] = function(_, params)
        return { unsaved = require('understudy.save').save(params.uris) }
      end,
    },
    commands = require('understudy.actions').commands(),
  }
end

--- The same with what the user has put on top by `vim.lsp.config`.
---@return vim.lsp.ClientConfig
local function resolved()
  return is_11 and vim.lsp.config[M.name] or M.defaults()
end

---@param root string
---@return vim.lsp.ClientConfig
local function config_for(root)
  return vim.tbl_extend('force', vim.deepcopy(resolved()), { root_dir = root })
end

--- The program, and whether it is there.
---@return string program
---@return boolean is_there
function M.program()
  local cmd = resolved().cmd
  local program = type(cmd) == 'table' and cmd[1] or config.get().cmd[1]
  return program, vim.fn.executable(program) == 1
end

--- Attaches a buffer if it is a file of a workspace, and starts the server where none runs for that workspace.
---@param buffer integer
---@return integer? client
function M.attach(buffer)
  local root = M.root(buffer)
  if not root or not select(2, M.program()) then
    return nil
  end
  return vim.lsp.start(config_for(root), { bufnr = buffer, silent = true })
end

---@return vim.lsp.Client[]
function M.all()
  return vim.lsp.get_clients({ name = M.name })
end

--- Starts the server of a folder that no buffer belongs to.
---@param root string
---@return vim.lsp.Client?
local function start(root)
  for _, client in ipairs(M.all()) do
    if client.config.root_dir == root then
      return client
    end
  end
  local id
  if is_11 then
    id = vim.lsp.start(config_for(root), { attach = false, silent = true })
  else
    id = vim.lsp.start_client(config_for(root))
  end
  return id and vim.lsp.get_client_by_id(id)
end

--- The server that the current buffer, review or folder belongs to, ready to be asked; says why not otherwise.
---@return vim.lsp.Client?
function M.current()
  local review = require('understudy.review').current()
  if review and not review.client:is_stopped() then
    return review.client
  end
  local program, is_there = M.program()
  if not is_there then
    say.answer(('`%s` is not there; see :checkhealth understudy'):format(program), vim.log.levels.ERROR)
    return nil
  end
  local id = M.attach(vim.api.nvim_get_current_buf())
  local client = id and vim.lsp.get_client_by_id(id)
  if review then
    client = start(review.client.config.root_dir)
  elseif not client then
    local folder = vim.fs.normalize(vim.fn.getcwd())
    client = start(vim.fs.root(folder, '.git') or folder)
  end
  local ready = client
    and vim.wait(START_MILLISECONDS, function()
      return client.initialized or client:is_stopped()
    end, 5)
  if not ready or client:is_stopped() then
    say.answer('the server did not start; see :Understudy log', vim.log.levels.ERROR)
    return nil
  end
  if review then
    -- The one it was opened with has ended.
    review.client = client
  end
  return client
end

---@param client vim.lsp.Client
---@param method string
---@param params table
---@param answered fun(err?: lsp.ResponseError, result: any)
function M.request(client, method, params, answered)
  local function handler(err, result)
    answered(err, without_null(result))
  end
  local sent
  if is_11 then
    sent = client:request(method, params, handler)
  else
    sent = client.request(method, params, handler)
  end
  if not sent then
    answered({ code = -32603, message = 'the server has ended; open a file of the workspace again' }, nil)
  end
end

--- Carries out `understudy.NAME`. Without `refused` the reason of a refusal is said.
---@param client vim.lsp.Client
---@param name string
---@param argument table
---@param answered fun(result: any)
---@param refused? fun(err: lsp.ResponseError)
function M.execute(client, name, argument, answered, refused)
  -- An empty table would become an empty list on the wire.
  local object = next(argument) and argument or vim.empty_dict()
  local params = { command = 'understudy.' .. name, arguments = { object } }
  M.request(client, 'workspace/executeCommand', params, function(err, result)
    if not err then
      answered(result)
    elseif refused then
      refused(err)
    else
      say.refuse(err.message)
    end
  end)
end

return M
