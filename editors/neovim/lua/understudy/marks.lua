--- Hunks in the two buffers of a review: which one a line belongs to, and how its verdict shows.
local M = {}

local namespace = vim.api.nvim_create_namespace('understudy.review')

---@alias understudy.Side 'base'|'tree'

--- First line and number of lines of a hunk on one side; a hunk without lines there stands at the line it goes before.
---@param hunk understudy.Hunk
---@param side understudy.Side
---@return integer start
---@return integer lines
local function range_of(hunk, side)
  if side == 'base' then
    return hunk.base_start, hunk.base_lines
  end
  return hunk.new_start, hunk.new_lines
end

--- The hunks of a file that touch these lines. A hunk for the whole file is meant where no text hunk is.
---@param file understudy.FileDiff
---@param side understudy.Side
---@param first integer
---@param last integer
---@return understudy.Hunk[]
function M.at(file, side, first, last)
  local touched, whole = {}, {}
  for _, hunk in ipairs(file.hunks) do
    local start, lines = range_of(hunk, side)
    if hunk.kind ~= 'text' then
      table.insert(whole, hunk)
    elseif start <= last and start + math.max(lines, 1) - 1 >= first then
      table.insert(touched, hunk)
    end
  end
  return #touched > 0 and touched or whole
end

--- What a hunk is, beside its verdict.
---@param hunk understudy.Hunk
---@return string
local function nature(hunk)
  local words = {}
  if hunk.kind == 'move' then
    table.insert(words, 'moved from ' .. hunk.old_path)
  elseif hunk.kind ~= 'text' then
    table.insert(words, hunk.kind)
  end
  if hunk.needs_consent then
    table.insert(words, 'needs consent')
  end
  for _, risk in ipairs(hunk.risks) do
    table.insert(words, (risk:gsub('_', ' ')))
  end
  return #words > 0 and (' (' .. table.concat(words, ', ') .. ')') or ''
end

--- Shows the verdict on each hunk of a file: a sign on its lines, a word at the end of the first. Where a hunk has no
--- lines on this side, the word stands at the line that follows.
---@param buffer integer
---@param file understudy.FileDiff
---@param side understudy.Side
---@param rejected table<string, true>
function M.verdicts(buffer, file, side, rejected)
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  local count = vim.api.nvim_buf_line_count(buffer)
  for _, hunk in ipairs(file.hunks) do
    local is_rejected = rejected[hunk.id] or false
    local group = is_rejected and 'UnderstudyRejected' or 'UnderstudyKept'
    local start, lines = range_of(hunk, side)
    local first = math.min(math.max(start, 1), count)
    local text = (is_rejected and 'rejected' or 'kept') .. nature(hunk)
    if hunk.kind == 'text' and lines == 0 then
      local what = side == 'base' and 'added' or 'removed'
      text = ('%s: lines %s %s'):format(text, what, start > count and 'below' or 'above')
    end
    vim.api.nvim_buf_set_extmark(buffer, namespace, first - 1, 0, { virt_text = { { text, group } } })
    for number = first, math.min(first + lines - 1, count) do
      vim.api.nvim_buf_set_extmark(buffer, namespace, number - 1, 0, {
        sign_text = is_rejected and '✗' or '✓',
        sign_hl_group = group,
      })
    end
  end
end

--- Shows failures that the base does not have where they are.
---@param buffer integer
---@param path string
---@param report understudy.Report
function M.failures(buffer, path, report)
  local found = {}
  for _, check in ipairs(report.checks) do
    for _, item in ipairs(check.new_failures) do
      if item.at and item.at[1] == path then
        table.insert(found, {
          lnum = math.max(item.at[2] - 1, 0),
          col = 0,
          message = item.excerpt ~= '' and item.excerpt or item.id.path,
          source = check.check,
          severity = vim.diagnostic.severity.WARN,
        })
      end
    end
  end
  vim.diagnostic.set(namespace, buffer, found)
end

return M
