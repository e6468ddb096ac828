--- What is known of the tasks of each server, and what is said about them.
local config = require('understudy.config')
local say = require('understudy.say')

local M = {}

---@type table<integer, table<string, understudy.TaskLine>>
local known = {}

---@param count integer
---@param one string
---@return string
local function counted(count, one)
  return ('%d %s%s'):format(count, one, count == 1 and '' or 's')
end

--- How a task stands, in a few words.
---@param line understudy.TaskLine
---@return string
function M.summary(line)
  if line.status == 'review' then
    local kept = line.hunks - line.rejected
    local size = ('%d of %s kept'):format(kept, counted(line.hunks, 'hunk'))
    if line.rejected == 0 then
      size = ('%s in %s'):format(counted(line.hunks, 'hunk'), counted(line.files, 'file'))
    end
    return ('%s, %s'):format(line.kept_verdict or 'not checked yet', size)
  elseif line.status == 'ended' then
    local ended = line.publication and line.publication.state or line.verdict or 'ended'
    return line.sentence ~= '' and ('%s: %s'):format(ended, line.sentence) or ended
  elseif line.status == 'needs you' then
    return line.waiting_for == 'plan' and 'waits for your yes to its plan' or line.sentence
  elseif line.status == 'interrupted' then
    return line.waiting_for == 'provider' and ('waits for its model: %s'):format(line.sentence) or 'interrupted'
  end
  return line.doing ~= '' and line.doing or line.status
end

--- What a task of a model used, and how far it is: `2 of 5 steps, $0.09 of $0.50, 41200 tokens`; empty for others.
---@param line understudy.TaskLine
---@return string
function M.spending(line)
  local parts = {}
  if line.plan and #line.plan.steps > 1 then
    local done = vim.tbl_filter(function(step)
      return step.status == 'done'
    end, line.plan.steps)
    table.insert(parts, ('%d of %s'):format(#done, counted(#line.plan.steps, 'step')))
  end
  local usage = line.usage
  if usage then
    if usage.microdollars then
      local used = ('$%.2f'):format(usage.microdollars / 1e6)
      local max = usage.max_microdollars
      table.insert(parts, max and ('%s of $%.2f'):format(used, max / 1e6) or used)
    end
    table.insert(parts, counted(usage.tokens, 'token'))
  end
  return table.concat(parts, ', ')
end

--- News are cut at the end of the message line; a title may not take the place of what happened.
local TITLE_CHARACTERS = 40

--- What the developer should hear when a task comes to stand like this; nil for steps on the way.
---@param line understudy.TaskLine
---@return string?
local function news(line)
  local title = line.title
  if vim.fn.strchars(title) > TITLE_CHARACTERS then
    title = vim.fn.strcharpart(title, 0, TITLE_CHARACTERS - 1) .. '…'
  end
  if line.question then
    return ('%s (:Understudy answer)'):format(line.question.text)
  elseif line.status == 'needs you' then
    local how = line.waiting_for == 'plan' and ':Understudy plan, :Understudy approve' or ':Understudy answer'
    return ('%s: %s (%s)'):format(title, M.summary(line), how)
  elseif line.status == 'review' or line.status == 'ended' then
    local has_diff = line.hunks > 0 and ' (:Understudy review)' or ''
    return ('%s: %s%s'):format(title, M.summary(line), has_diff)
  elseif line.status == 'interrupted' then
    return ('%s: interrupted (:Understudy resume)'):format(title)
  end
end

---@param client_id integer
---@param line understudy.TaskLine
---@return understudy.TaskLine? before
local function remember(client_id, line)
  local lines = known[client_id] or {}
  known[client_id] = lines
  local before = lines[line.id]
  -- A notification may overtake the answer to a command, or be overtaken by it.
  if not before or before.revision <= line.revision then
    lines[line.id] = line
  end
  return before
end

--- Where a task comes to a stand from. A publication and a check of a selection are followed by who asked for them.
local WALKING = { waiting = true, running = true }

--- Names what a task waits for.
---@param line understudy.TaskLine
---@return string
local function owed(line)
  local version = line.plan and line.plan.version
  return ('%s %s %s %s'):format(line.status, line.waiting_for, line.asked, version)
end

--- Whether a task came to a stand. Between two things that it waits for, it may walk for less than the time in which it
--- is spoken of.
---@param before understudy.TaskLine
---@param line understudy.TaskLine
---@return boolean
local function stopped(before, line)
  if before.status == 'needs you' then
    return owed(before) ~= owed(line)
  end
  return before.status ~= line.status and WALKING[before.status] == true
end

--- A server said that something about a task changed.
---@param client_id integer
---@param line understudy.TaskLine
function M.changed(client_id, line)
  local before = remember(client_id, line)
  if before and config.get().notify and stopped(before, line) then
    local text = news(line)
    if text then
      say.news(text)
    end
  end
  require('understudy.review').changed(client_id, line)
  vim.api.nvim_exec_autocmds('User', { pattern = 'UnderstudyTask', modeline = false, data = line })
  vim.cmd.redrawstatus({ bang = true })
end

---@param client_id integer
---@param id string
---@return understudy.TaskLine?
function M.get(client_id, id)
  return known[client_id] and known[client_id][id]
end

---@param client_id integer
---@return table<string, understudy.TaskLine>
function M.of(client_id)
  return known[client_id] or {}
end

--- Asks the server for the tasks of its workspace.
---@param client vim.lsp.Client
---@param answered fun(lines: understudy.TaskLine[])
function M.list(client, answered)
  require('understudy.client').execute(client, 'task.list', { folder = client.config.root_dir }, function(lines)
    for _, line in ipairs(lines) do
      remember(client.id, line)
    end
    answered(lines)
  end)
end

---@class understudy.Wanted
---@field id? string
---@field fits fun(line: understudy.TaskLine): boolean?
---@field otherwise? fun(line: understudy.TaskLine): boolean? What will do where nothing fits; the newest is meant.
---@field none string Said when there is none.

--- The task that a command is about: the named one, else the only one that fits, else the one the developer picks.
---@param client vim.lsp.Client
---@param wanted understudy.Wanted
---@param chosen fun(line: understudy.TaskLine)
function M.choose(client, wanted, chosen)
  M.list(client, function(lines)
    if wanted.id then
      for _, line in ipairs(lines) do
        if line.id == wanted.id then
          return chosen(line)
        end
      end
      return say.refuse(('there is no task %s in this workspace'):format(wanted.id))
    end
    local fitting = vim.tbl_filter(wanted.fits, lines)
    if #fitting == 0 and wanted.otherwise then
      -- The server lists the newest first.
      fitting = { vim.tbl_filter(wanted.otherwise, lines)[1] }
    end
    if #fitting == 0 then
      return say.refuse(wanted.none)
    elseif #fitting == 1 then
      return chosen(fitting[1])
    end
    local function format_item(line)
      return ('%s  %s: %s'):format(line.id, line.title, M.summary(line))
    end
    vim.ui.select(fitting, { prompt = 'Task', kind = 'understudy', format_item = format_item }, function(line)
      if line then
        chosen(line)
      end
    end)
  end)
end

return M
