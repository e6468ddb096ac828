--- The review of a diff: a tab of its own, base on the left, proposal on the right, one file at a time.
local client = require('understudy.client')
local documents = require('understudy.documents')
local marks = require('understudy.marks')
local say = require('understudy.say')
local tasks = require('understudy.tasks')

local M = {}

---@type understudy.Review[]
local open = {}

---@param hunks understudy.Hunk[]
---@return understudy.FileDiff[]
local function by_file(hunks)
  local files, index = {}, {}
  for _, hunk in ipairs(hunks) do
    if not index[hunk.path] then
      table.insert(files, { path = hunk.path, old_path = hunk.path, hunks = {} })
      index[hunk.path] = files[#files]
    end
    local file = index[hunk.path]
    -- Only a moved file has another path in base.
    file.old_path = hunk.old_path ~= hunk.path and hunk.old_path or file.old_path
    table.insert(file.hunks, hunk)
  end
  return files
end

--- Puts what the server says of a task into its review.
---@param review understudy.Review
---@param line understudy.TaskLine
---@param report understudy.Report
local function take(review, line, report)
  review.line, review.report, review.files = line, report, by_file(report.hunks)
  review.index = math.min(review.index, #review.files)
  review.rejected = {}
  for _, hunk in ipairs(report.hunks) do
    review.rejected[hunk.id] = hunk.rejected or nil
  end
end

---@param review understudy.Review
---@return boolean
local function is_whole(review)
  local windows = review.windows
  return vim.api.nvim_win_is_valid(windows.base) and vim.api.nvim_win_is_valid(windows.tree)
end

---@param review understudy.Review
local function draw(review)
  if not is_whole(review) then
    return
  end
  local file, line = review.files[review.index], review.line
  for side, window in pairs(review.windows) do
    local buffer = vim.api.nvim_win_get_buf(window)
    marks.verdicts(buffer, file, side, review.rejected)
    -- The checks are those of the whole proposal.
    marks.failures(
      buffer,
      file.path,
      { checks = (side == 'tree' and line.rejected == 0) and review.report.checks or {} }
    )
  end
  local state = line.status == 'review' and tasks.summary(line) or line.status
  local place = ('%s (%d/%d)'):format(file.path, review.index, #review.files)
  local function bar(side, text, hint)
    local value = (' %s%%=%s '):format(text:gsub('%%', '%%%%'), hint or '')
    vim.api.nvim_set_option_value('winbar', value, { scope = 'local', win = review.windows[side] })
  end
  bar('base', 'base ' .. file.old_path, require('understudy.keys').hint())
  bar('tree', ('proposal %s: %s'):format(place, state))
end

---@param review understudy.Review
local function put_file(review)
  local file, line = review.files[review.index], review.line
  local waiting = 2
  local function filled()
    waiting = waiting - 1
    if waiting > 0 or not is_whole(review) then
      return
    end
    for _, window in pairs(review.windows) do
      vim.api.nvim_win_call(window, vim.cmd.diffthis)
    end
    local count = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(review.windows.tree))
    local first = math.min(math.max(file.hunks[1].new_start, 1), count)
    vim.api.nvim_win_set_cursor(review.windows.tree, { first, 0 })
    draw(review)
    vim.api.nvim_exec_autocmds('User', { pattern = 'UnderstudyReview', modeline = false, data = line })
  end
  local function put(side, tree, path)
    local buffer = documents.open(review.client, documents.name(line.id, tree, path), filled)
    vim.api.nvim_win_set_buf(review.windows[side], buffer)
    require('understudy.keys').map(buffer)
  end
  put('base', line.base, file.old_path)
  put('tree', line.tree, file.path)
end

---@param review understudy.Review
local function lay_out(review)
  vim.cmd('tabnew')
  vim.bo.bufhidden = 'wipe'
  review.tab = vim.api.nvim_get_current_tabpage()
  review.windows.base = vim.api.nvim_get_current_win()
  vim.cmd('rightbelow vsplit')
  review.windows.tree = vim.api.nvim_get_current_win()
  table.insert(open, review)
end

--- Forgets reviews whose tab is closed, with the buffers they showed.
function M.sweep()
  for index = #open, 1, -1 do
    local review = open[index]
    if not vim.api.nvim_tabpage_is_valid(review.tab) or not is_whole(review) then
      table.remove(open, index)
      local prefix = ('understudy://%s/'):format(review.line.id)
      for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
        if vim.startswith(vim.api.nvim_buf_get_name(buffer), prefix) then
          vim.api.nvim_buf_delete(buffer, { force = true })
        end
      end
    end
  end
end

--- The review of the current tab.
---@return understudy.Review?
function M.current()
  local tab = vim.api.nvim_get_current_tabpage()
  for _, review in ipairs(open) do
    if review.tab == tab then
      return review
    end
  end
end

---@param of vim.lsp.Client
---@param line understudy.TaskLine
function M.open(of, line)
  if not line.tree or line.hunks == 0 then
    return say.refuse(('%s: no diff: %s'):format(line.title, tasks.summary(line)))
  end
  for _, review in ipairs(open) do
    if review.line.id == line.id and is_whole(review) then
      return vim.api.nvim_set_current_tabpage(review.tab)
    end
  end
  client.execute(of, 'task.get', { task = line.id }, function(report)
    if #report.hunks == 0 then
      return say.refuse(line.title .. ': the diff is empty')
    end
    local review = { client = of, index = 1, asked = 0, windows = {} }
    take(review, line, report)
    lay_out(review)
    put_file(review)
    -- A check that ended with the editor does not go on by itself.
    if line.status == 'review' and not line.kept_verdict and line.rejected < line.hunks then
      client.execute(of, 'check.run', { task = line.id, revision = line.revision }, function() end)
    end
  end)
end

--- A task went on: what its review shows follows, and only then can it be approved.
---@param client_id integer
---@param line understudy.TaskLine
function M.changed(client_id, line)
  for _, review in ipairs(open) do
    local before = review.line
    if review.client.id == client_id and before.id == line.id and before.revision <= line.revision then
      local moved = before.tree ~= line.tree or before.base ~= line.base
      review.asked = review.asked + 1
      local asked = review.asked
      local judged = before.kept_tree ~= line.kept_tree or before.kept_verdict ~= line.kept_verdict
      if not line.tree or not (moved or judged) then
        review.line = line
        draw(review)
      else
        client.execute(review.client, 'task.get', { task = line.id }, function(report)
          if review.asked ~= asked or #report.hunks == 0 then
            return
          end
          take(review, line, report)
          if moved then
            put_file(review)
          else
            draw(review)
          end
        end)
      end
    end
  end
end

--- Shows another file of the current review.
---@param step integer
function M.step(step)
  local review = M.current()
  local index = review and review.index + step
  if review and is_whole(review) and review.files[index] then
    review.index = index
    put_file(review)
  end
end

--- The hunks of the current window between two lines.
---@param review understudy.Review
---@param first integer
---@param last integer
---@return understudy.Hunk[]
function M.hunks(review, first, last)
  local side = vim.api.nvim_get_current_win() == review.windows.base and 'base' or 'tree'
  return marks.at(review.files[review.index], side, first, last)
end

---@param review understudy.Review
function M.close(review)
  if vim.api.nvim_tabpage_is_valid(review.tab) and #vim.api.nvim_list_tabpages() > 1 then
    vim.cmd.tabclose(vim.api.nvim_tabpage_get_number(review.tab))
  end
end

return M
