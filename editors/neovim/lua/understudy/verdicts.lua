--- What the developer decides: keep, reject, apply, undo.
local client = require('understudy.client')
local review = require('understudy.review')
local say = require('understudy.say')
local tasks = require('understudy.tasks')

local M = {}

---@param hunks understudy.Hunk[]
---@return string[]
local function ids_of(hunks)
  return vim.tbl_map(function(hunk)
    return hunk.id
  end, hunks)
end

--- The error of a call that names an older revision.
local CONTENT_MODIFIED = -32801

--- Sends a verdict. A hunk is named by its content, so the verdict means the same at the present revision: keys typed
--- faster than the server tells of their effect are no mistakes. An approval is never sent again like this.
---@param of vim.lsp.Client
---@param verb 'keep'|'reject'
---@param argument {task: string, hunks: string[], reason?: string}
---@param line understudy.TaskLine
---@param is_second? boolean
local function send(of, verb, argument, line, is_second)
  local known = vim.tbl_extend('force', argument, { revision = line.revision })
  client.execute(of, 'hunk.' .. verb, known, function(changed)
    tasks.changed(of.id, changed)
  end, function(err)
    if err.code ~= CONTENT_MODIFIED or is_second then
      return say.refuse(err.message)
    end
    tasks.list(of, function()
      send(of, verb, argument, assert(tasks.get(of.id, argument.task)), true)
    end)
  end)
end

--- Keeps or rejects the hunks of the current window between two lines. The server then checks what is kept.
---@param verb 'keep'|'reject'
---@param first integer
---@param last integer
---@param reason? string
function M.judge(verb, first, last, reason)
  local current = review.current()
  if not current then
    return say.refuse('this is no review; see :Understudy review')
  end
  local hunks = review.hunks(current, first, last)
  if #hunks == 0 then
    return say.refuse('there is no hunk here; ]c goes to the next one')
  end
  local line = tasks.get(current.client.id, current.line.id) or current.line
  send(current.client, verb, { task = line.id, hunks = ids_of(hunks), reason = reason }, line)
end

---@param text string
---@return boolean
local function is_agreed(text)
  return vim.fn.confirm(text, '&Yes\n&No', 2) == 1
end

--- Says what came of a publication.
---@param of vim.lsp.Client
---@param outcome understudy.Outcome
local function report(of, outcome)
  local is_good = outcome.outcome == 'applied' or outcome.outcome == 'already there'
  local text = ('%s: %s'):format(is_good and outcome.task.title or outcome.outcome, outcome.sentence)
  -- A single one is named by the sentence itself.
  local unsaid = vim.tbl_filter(function(path)
    return not outcome.sentence:find(path, 1, true)
  end, outcome.unsaved)
  if #unsaid > 0 then
    text = ('%s; not saved: %s'):format(text, table.concat(unsaid, ', '))
  end
  say.answer(text, is_good and vim.log.levels.INFO or vim.log.levels.WARN)
  tasks.changed(of.id, outcome.task)
  vim.api.nvim_exec_autocmds('User', { pattern = 'UnderstudyOutcome', modeline = false, data = outcome })
end

--- Paths of kept hunks whose writing needs a consent of its own.
---@param current understudy.Review
---@return string[]
local function acting_paths(current)
  local paths = {}
  for _, hunk in ipairs(current.report.hunks) do
    if hunk.needs_consent and not hunk.rejected and not vim.list_contains(paths, hunk.path) then
      table.insert(paths, hunk.path)
    end
  end
  return paths
end

--- Approves exactly the tree that the review shows, and writes it.
---@param current understudy.Review
local function approve(current)
  local line = current.line
  if not vim.list_contains(line.next, 'apply') then
    return say.refuse(('it cannot be applied now: %s'):format(tasks.summary(line)))
  end
  if line.rejected == line.hunks then
    return say.refuse('every hunk is rejected: there is nothing to apply')
  elseif line.status == 'checking' then
    return say.refuse('what is kept is still being checked')
  end
  local argument = { task = line.id, revision = line.revision, tree = line.kept_tree or line.tree }
  if line.kept_verdict ~= 'verified' then
    local why = line.kept_verdict and line.sentence or 'what is kept has not been checked'
    if not is_agreed(('Not verified: %s\nWrite it all the same?'):format(why)) then
      return
    end
    argument.unverified = true
  end
  local acting = acting_paths(current)
  if #acting > 0 then
    if not is_agreed(('These files act by themselves:\n%s\nWrite them too?'):format(table.concat(acting, '\n'))) then
      return
    end
    argument.consent = acting
  end
  client.execute(current.client, 'apply', argument, function(outcome)
    report(current.client, outcome)
    if outcome.outcome == 'applied' or outcome.outcome == 'already there' then
      review.close(current)
    end
  end)
end

--- Applies the current review. Anywhere else the diff is shown first: what nobody has seen is not approved.
---@param of vim.lsp.Client
---@param id? string
function M.apply(of, id)
  local current = review.current()
  if current and (not id or id == current.line.id) then
    return approve(current)
  end
  local function fits(line)
    return vim.list_contains(line.next, 'apply')
  end
  tasks.choose(of, { id = id, fits = fits, none = 'nothing waits to be applied' }, function(line)
    review.open(of, line)
    say.answer('read the diff, then :Understudy apply here')
  end)
end

--- Takes the last publication of a task back.
---@param of vim.lsp.Client
---@param id? string
function M.undo(of, id)
  local function fits(line)
    return vim.list_contains(line.next, 'undo')
  end
  tasks.choose(of, { id = id, fits = fits, none = 'nothing can be undone' }, function(line)
    client.execute(of, 'undo', { task = line.id, revision = line.revision }, function(outcome)
      report(of, outcome)
    end)
  end)
end

return M
