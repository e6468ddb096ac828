--- `:Understudy SUBCOMMAND`: what each does and how its arguments are completed.
local client = require('understudy.client')
local owed = require('understudy.owed')
local review = require('understudy.review')
local say = require('understudy.say')
local starting = require('understudy.starting')
local tasks = require('understudy.tasks')
local verdicts = require('understudy.verdicts')

local M = {}

--- Opens the review of the named task, or of one that waits for it.
---@param of vim.lsp.Client
---@param id? string
function M.review(of, id)
  local function fits(line)
    local is_open = line.status == 'review' or line.status == 'checking' or vim.list_contains(line.next, 'apply')
    return is_open and line.hunks > 0
  end
  -- A proof has ended with its checks, and is looked at all the same.
  local function has_diff(line)
    return line.hunks > 0
  end
  local wanted = { id = id, fits = fits, otherwise = has_diff, none = 'no diff waits for a review' }
  tasks.choose(of, wanted, function(line)
    review.open(of, line)
  end)
end

---@param next_step string
---@param none string
---@param go_on fun(of: vim.lsp.Client, line: understudy.TaskLine)
local function on_task(next_step, none, go_on)
  return function(of, argument)
    local function fits(line)
      return vim.list_contains(line.next, next_step)
    end
    tasks.choose(of, { id = argument ~= '' and argument or nil, fits = fits, none = none }, function(line)
      go_on(of, line)
    end)
  end
end

---@param wanted string
---@param chosen fun(task: string, check: string)
local function on_check(wanted, chosen)
  local current = review.current()
  if not current then
    return say.refuse('this is no review; see :Understudy review')
  end
  local names = vim.tbl_map(function(check)
    return check.check
  end, current.report.checks)
  if wanted ~= '' or #names == 1 then
    return chosen(current.line.id, wanted ~= '' and wanted or names[1])
  end
  vim.ui.select(names, { prompt = 'Check', kind = 'understudy' }, function(name)
    if name then
      chosen(current.line.id, name)
    end
  end)
end

---@param name string
local function show_check(name)
  return function(of, argument)
    on_check(argument, function(task, check)
      client.execute(of, 'check.' .. name, { task = task, check = check }, function(answer)
        say.show(name, answer.text)
      end)
    end)
  end
end

---@param lead string
---@return string[]
local function task_ids(lead)
  local ids = {}
  for _, of in ipairs(client.all()) do
    for id in vim.spairs(tasks.of(of.id)) do
      if vim.startswith(id, lead) then
        table.insert(ids, id)
      end
    end
  end
  return ids
end

--- Texts that the compiler engine takes as they are.
local TEXTS = { 'fix warnings', 'fix errors', 'fix clippy', 'rename ', 'replace ', 'assist ' }

---@return string[]
local function texts(lead)
  return vim.tbl_filter(function(text)
    return vim.startswith(text, lead)
  end, TEXTS)
end

---@class understudy.Subcommand
---@field run fun(of: vim.lsp.Client, argument: string, range: {[1]: integer, [2]: integer})
---@field complete? fun(lead: string): string[]
---@field alone? boolean Needs no server.

---@type table<string, understudy.Subcommand>
local SUBCOMMANDS = {
  new = {
    complete = texts,
    run = function(of, text)
      if text ~= '' then
        return starting.create(of, text)
      end
      vim.ui.input({ prompt = 'Task: ' }, function(typed)
        if typed and typed ~= '' then
          starting.create(of, typed)
        end
      end)
    end,
  },
  prove = {
    run = function(of, branch)
      local request = branch ~= '' and { description = 'prove ' .. branch, branch = branch }
        or { description = 'prove the working tree', worktree = true }
      starting.create(of, request)
    end,
  },
  rename = {
    run = function(of, name)
      local place = starting.name_at_cursor(of)
      if not place then
        return say.refuse('put the cursor on a symbol in a file of the workspace')
      end
      starting.rename(of, place, name ~= '' and name or nil)
    end,
  },
  review = {
    complete = task_ids,
    run = function(of, id)
      M.review(of, id ~= '' and id or nil)
    end,
  },
  keep = {
    run = function(_, _, range)
      verdicts.judge('keep', range[1], range[2])
    end,
  },
  reject = {
    run = function(_, reason, range)
      verdicts.judge('reject', range[1], range[2], reason ~= '' and reason or nil)
    end,
  },
  next = {
    alone = true,
    run = function()
      review.step(1)
    end,
  },
  previous = {
    alone = true,
    run = function()
      review.step(-1)
    end,
  },
  close = {
    alone = true,
    run = function()
      local current = review.current()
      if current then
        review.close(current)
      end
    end,
  },
  receipt = { run = show_check('receipt') },
  compare = { run = show_check('compare') },
  apply = {
    complete = task_ids,
    run = function(of, id)
      verdicts.apply(of, id ~= '' and id or nil)
    end,
  },
  undo = {
    complete = task_ids,
    run = function(of, id)
      verdicts.undo(of, id ~= '' and id or nil)
    end,
  },
  cancel = {
    complete = task_ids,
    run = on_task('cancel', 'no task runs', function(of, line)
      client.execute(of, 'task.cancel', { task = line.id }, function()
        say.answer(line.title .. ': cancelled')
      end)
    end),
  },
  resume = {
    complete = task_ids,
    run = on_task('resume', 'no task can be resumed', function(of, line)
      client.execute(of, 'task.resume', { task = line.id }, function()
        say.answer(line.title .. ': goes on')
      end)
    end),
  },
  answer = {
    run = function(of)
      local function waits(line)
        return vim.list_contains(line.next, 'answer')
      end
      local function asks(line)
        return line.question ~= nil and #line.question.options > 0
      end
      -- Of those that ended with a question the older ones were answered or given up.
      local wanted = { fits = waits, otherwise = asks, none = 'no task has a question' }
      tasks.choose(of, wanted, function(line)
        if waits(line) then
          return owed.answer(of, line)
        end
        vim.ui.select(line.question.options, { prompt = line.question.text, kind = 'understudy' }, function(option)
          if option then
            starting.create(of, option)
          end
        end)
      end)
    end,
  },
  plan = { complete = task_ids, run = owed.plan },
  approve = { complete = task_ids, run = owed.approve },
  steer = { run = owed.steer },
  raise = { run = owed.raise },
  again = { run = owed.again },
  explain = { run = owed.explain_here },
  tasks = {
    run = function(of)
      tasks.list(of, function(lines)
        local texts_of = vim.tbl_map(function(line)
          return ('%s  %-11s  %s: %s'):format(line.id, line.status, line.title, tasks.summary(line))
        end, lines)
        say.show('tasks', #texts_of > 0 and table.concat(texts_of, '\n') or 'no task yet; see :Understudy new')
      end)
    end,
  },
  doctor = {
    run = function(of)
      client.execute(of, 'doctor', {}, function(answer)
        say.show('doctor', answer.text)
      end)
    end,
  },
  log = {
    alone = true,
    run = function()
      vim.cmd.tabedit(vim.fn.fnameescape(require('vim.lsp.log').get_filename()))
    end,
  },
}

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local name, rest = line:match('^.-Understudy!?%s+(%S+)%s+(.*)$')
  if not name then
    return vim.tbl_filter(function(known)
      return vim.startswith(known, lead)
    end, vim.fn.sort(vim.tbl_keys(SUBCOMMANDS)))
  end
  local subcommand = SUBCOMMANDS[name]
  if not subcommand or not subcommand.complete then
    return {}
  end
  -- The command line replaces the last word only.
  local before = #rest - #lead
  return vim.tbl_map(function(text)
    return text:sub(before + 1)
  end, subcommand.complete(rest))
end

---@param command vim.api.keyset.create_user_command.command_args
function M.run(command)
  local name, argument = command.args:match('^%s*(%S+)%s*(.-)%s*$')
  name = name or 'tasks'
  local subcommand = SUBCOMMANDS[name]
  if not subcommand then
    local known = vim.tbl_keys(SUBCOMMANDS)
    table.sort(known)
    local text = ('`%s` is no subcommand; there are %s (:help understudy)'):format(name, table.concat(known, ', '))
    return say.answer(text, vim.log.levels.ERROR)
  end
  local of = not subcommand.alone and client.current() or nil
  if of or subcommand.alone then
    ---@diagnostic disable-next-line: param-type-mismatch
    subcommand.run(of, argument, { command.line1, command.line2 })
  end
end

return M
