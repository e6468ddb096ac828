--- A provider of a language model that a scenario plays: on loopback, with answers that come whole.
local Provider = {}
Provider.__index = Provider

local function answer(self, body)
  table.insert(self.asked, body)
  local said = assert(self.answers[#self.asked], 'the model is asked once too often')
  local call = { name = said[1], arguments = vim.json.encode(said[2]) }
  return vim.json.encode({
    id = 'answer',
    object = 'chat.completion',
    model = 'scripted',
    choices = {
      {
        index = 0,
        finish_reason = 'tool_calls',
        message = {
          role = 'assistant',
          content = vim.NIL,
          tool_calls = { { id = 'call' .. #self.asked, type = 'function', ['function'] = call } },
        },
      },
    },
    usage = { prompt_tokens = 1000, completion_tokens = 10, total_tokens = 1010 },
  })
end

--- Takes requests from a connection; a body is whole when it has the length that its head names.
local function serve(self, connection)
  local received = ''
  connection:read_start(function(_, data)
    if not data then
      return connection:close()
    end
    received = received .. data
    local head_end = select(2, received:find('\r\n\r\n', 1, true))
    local length = head_end and tonumber(received:sub(1, head_end):lower():match('content%-length: (%d+)')) or 0
    if not head_end or #received < head_end + length then
      return
    end
    local body = received:sub(head_end + 1, head_end + length)
    local is_chat = received:match('^POST %S*/chat/completions ')
    received = received:sub(head_end + length + 1)
    local ok, text = pcall(is_chat and answer or function()
      return '{}'
    end, self, body)
    local status = not ok and '500 No' or is_chat and '200 OK' or '404 Not Found'
    local head = 'HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n'
    connection:write(head:format(status, #text) .. text)
  end)
end

--- Starts it; `answers` are calls of tools, `{ name, arguments }`, in order.
---@param answers table[]
function Provider.new(answers)
  local self = setmetatable({ answers = answers, asked = {} }, Provider)
  self.server = assert(vim.uv.new_tcp())
  assert(self.server:bind('127.0.0.1', 0))
  assert(self.server:listen(16, function()
    local connection = assert(vim.uv.new_tcp())
    self.server:accept(connection)
    serve(self, connection)
  end))
  self.url = ('http://127.0.0.1:%d/v1'):format(self.server:getsockname().port)
  return self
end

--- Configures the servers that a child starts from now on.
function Provider:configure(child)
  local folder = vim.env.SCRATCH .. '/config'
  vim.fn.mkdir(folder .. '/understudy', 'p')
  vim.fn.writefile({
    'plan = "review"',
    '[model]',
    'use = "scripted/model"',
    '[model.providers.scripted]',
    ('base_url = "%s"'):format(self.url),
  }, folder .. '/understudy/config.toml')
  child:lua('vim.env.XDG_CONFIG_HOME = ...', folder)
end

function Provider:stop()
  self.server:close()
end

return Provider
