--- What a task of a model wants from the developer, and what they tell it; questions about the code.
local client = require('understudy.client')
local say = require('understudy.say')
local tasks = require('understudy.tasks')

local M = {}

---@param next_step string
---@return fun(line: understudy.TaskLine): boolean
local function allows(next_step)
  return function(line)
    return vim.list_contains(line.next, next_step)
  end
end

---@param argument string
---@return string? id
local function id_of(argument)
  return argument ~= '' and argument or nil
end

--- The last choice of every list: what no option says.
local OTHER = 'something else…'

--- Asks for the answer to one question.
---@param question understudy.Question
---@param answered fun(answer: string)
local function ask(question, answered)
  local function typed()
    vim.ui.input({ prompt = question.text .. ' ' }, function(text)
      if text and vim.trim(text) ~= '' then
        answered(text)
      end
    end)
  end
  if #question.options == 0 then
    return typed()
  end
  local choices = vim.list_extend(vim.list_slice(question.options), { OTHER })
  vim.ui.select(choices, { prompt = question.text, kind = 'understudy' }, function(choice)
    if choice == OTHER then
      typed()
    elseif choice then
      answered(choice)
    end
  end)
end

--- Asks one question after the other and sends the answers together.
---@param of vim.lsp.Client
---@param line understudy.TaskLine
---@param answers? string[]
function M.answer(of, line, answers)
  answers = answers or {}
  local question = line.questions[#answers + 1]
  if question then
    return ask(question, function(text)
      M.answer(of, line, vim.list_extend(answers, { text }))
    end)
  end
  local argument = { task = line.id, revision = line.revision, asked = line.asked, answers = answers }
  client.execute(of, 'task.answer', argument, function(changed)
    tasks.changed(of.id, changed)
    say.answer(line.title .. ': goes on')
  end)
end

--- Opens the plan as a document. Its text is the developer's: what is approved is what stands in it.
---@param of vim.lsp.Client
---@param argument string
function M.plan(of, argument)
  local function has_plan(line)
    return line.plan ~= nil
  end
  local wanted = { id = id_of(argument), fits = allows('approve_plan'), otherwise = has_plan }
  wanted.none = 'no task has a plan'
  tasks.choose(of, wanted, function(line)
    client.execute(of, 'plan.open', { task = line.id }, function(answer)
      vim.cmd.split(vim.fn.fnameescape(answer.path))
      vim.bo.filetype = 'markdown'
    end)
  end)
end

--- The text of a plan's document, if it is open.
---@param line understudy.TaskLine
---@return string?
local function open_text(line)
  local name = ('/%s.plan-%d.md'):format(line.id, line.plan.version)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.endswith(vim.api.nvim_buf_get_name(buffer), name) then
      return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n') .. '\n'
    end
  end
end

--- Approves the plan, as the developer edited it.
---@param of vim.lsp.Client
---@param argument string
function M.approve(of, argument)
  local wanted = { id = id_of(argument), fits = allows('approve_plan'), none = 'no plan waits for your yes' }
  tasks.choose(of, wanted, function(line)
    if not line.plan then
      return say.refuse(('%s has no plan'):format(line.title))
    end
    local call = { task = line.id, revision = line.revision, version = line.plan.version, text = open_text(line) }
    call.document = call.text == nil
    client.execute(of, 'plan.approve', call, function(changed)
      tasks.changed(of.id, changed)
      say.answer(line.title .. ': its plan is approved')
    end)
  end)
end

--- Guidance for the next turn of a task that runs or waits.
---@param of vim.lsp.Client
---@param text string
function M.steer(of, text)
  tasks.choose(of, { fits = allows('steer'), none = 'no task of a model runs' }, function(line)
    local function send(typed)
      client.execute(of, 'task.steer', { task = line.id, text = typed }, function()
        say.answer(line.title .. ': told')
      end)
    end
    if text ~= '' then
      return send(text)
    end
    vim.ui.input({ prompt = ('Steer %s: '):format(line.title) }, function(typed)
      if typed and vim.trim(typed) ~= '' then
        send(typed)
      end
    end)
  end)
end

--- The same request once more, held to what was rejected of it and to what the developer says now.
---@param of vim.lsp.Client
---@param text string
function M.again(of, text)
  tasks.choose(of, { fits = allows('again'), none = 'no task of a model has ended' }, function(line)
    local because = text ~= '' and { text } or nil
    client.execute(of, 'task.again', { task = line.id, because = because }, function(answer)
      say.answer(('%s: once more (%s)'):format(line.title, answer.task))
    end)
  end)
end

--- More of what a task may use: `$1.50`, `2000000 tokens`, `5 attempts`, `1200 seconds`.
---@param text string
---@return table? limits
local function limits_of(text)
  local dollars = text:match('^%$%s*([%d.]+)$')
  local count, unit = text:match('^(%d+)%s*(%a+)$')
  local units = { tokens = 'max_tokens', attempts = 'max_iterations', seconds = 'timeout_seconds' }
  if dollars and tonumber(dollars) then
    return { budget_usd = tonumber(dollars) }
  elseif count and units[unit] then
    return { [units[unit]] = tonumber(count) }
  end
end

---@param of vim.lsp.Client
---@param text string
function M.raise(of, text)
  tasks.choose(of, { fits = allows('raise'), none = 'no task of a model runs' }, function(line)
    local function send(typed)
      local limits = limits_of(vim.trim(typed))
      if not limits then
        return say.refuse('say `$1.50`, `2000000 tokens`, `5 attempts` or `1200 seconds`')
      end
      client.execute(of, 'task.raise', { task = line.id, limits = limits }, function(changed)
        tasks.changed(of.id, changed)
        say.answer(('%s: %s more'):format(line.title, typed))
      end)
    end
    if text ~= '' then
      return send(text)
    end
    vim.ui.input({ prompt = ('More for %s (%s): '):format(line.title, tasks.spending(line)) }, function(typed)
      if typed and typed ~= '' then
        send(typed)
      end
    end)
  end)
end

---@param answer understudy.Explanation
---@return string
local function page(answer)
  local parts = { answer.text }
  for _, cited in ipairs(answer.citations) do
    -- A place that `gf` and `gF` go to.
    local place = ('%s:%d'):format(cited.uri and vim.uri_to_fname(cited.uri) or cited.path, cited.first_line)
    table.insert(parts, ('%s\n\n    %s'):format(place, (vim.trim(cited.text):gsub('\n', '\n    '))))
  end
  for _, sentence in ipairs(answer.unfounded) do
    table.insert(parts, '* not founded: ' .. sentence)
  end
  return table.concat(parts, '\n\n')
end

---@param of vim.lsp.Client
---@param argument {question?: string, uri?: string, line?: integer, folder?: string}
local function send_question(of, argument)
  say.answer('reading…')
  client.execute(of, 'explain', argument, function(answer)
    say.float('Understudy', page(answer))
  end)
end

--- Lets the developer say what to ask.
---@param of vim.lsp.Client
---@param argument {question?: string, uri?: string, line?: integer, folder?: string}
function M.explain(of, argument)
  vim.ui.input({ prompt = 'Question: ', default = argument.question or '' }, function(typed)
    if typed and vim.trim(typed) ~= '' then
      send_question(of, vim.tbl_extend('force', argument, { question = typed }))
    end
  end)
end

--- Asks at the cursor, where a file of the workspace is shown.
---@param of vim.lsp.Client
---@param question string
function M.explain_here(of, question)
  local argument = { folder = of.config.root_dir }
  local path = vim.fs.normalize(vim.api.nvim_buf_get_name(0))
  if vim.bo.buftype == '' and vim.startswith(path, of.config.root_dir .. '/') then
    argument.uri = vim.uri_from_bufnr(0)
    argument.line = vim.api.nvim_win_get_cursor(0)[1] - 1
  end
  if question == '' then
    return M.explain(of, argument)
  end
  argument.question = question
  send_question(of, argument)
end

return M
