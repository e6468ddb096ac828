--- Tasks for a language model, which the scenario plays.
local Provider = require('provider')

local function waits_for(child, what)
  child:wait(
    'the task waits for ' .. what,
    [[(function(what)
    local client = vim.lsp.get_clients({ name = 'understudy' })[1]
    local _, line = next(require('understudy.tasks').of(client.id))
    return line and line.status == 'needs you' and line.waiting_for == what
  end)(...)]],
    what
  )
end

return {
  {
    name = 'a question is answered, a plan edited and approved, the change applied, the code explained',
    run = function(child, workspace)
      local provider = Provider.new({
        { 'ask', { questions = { { text = 'Which one?', options = { 'the first', 'both' } } } } },
        { 'propose_plan', { steps = { { id = '1', title = 'Mend it', paths = { 'src/lib.rs' }, delivers = 'no `mut`' } } } },
        { 'edit', { edits = { { path = 'src/lib.rs', old = 'let mut sum =', new = 'let sum =' } } } },
        { 'done', { summary = 'mended' } },
        {
          'answer',
          { text = 'It adds.', citations = { { path = 'src/lib.rs', first_line = 1, last_line = 2 } } },
        },
      })
      provider:configure(child)
      child:lua([[
        vim.ui.select = function(items, _, chosen) chosen(items[2]) end
      ]])
      child:edit('src/lib.rs')
      child:command('Understudy new take what is too much')
      waits_for(child, 'answers')
      child:command('Understudy answer')
      waits_for(child, 'plan')
      assert(provider.asked[2]:find('both', 1, true))
      child:command('Understudy plan')
      child:wait('the plan is shown', [[vim.api.nvim_buf_get_name(0):match('%.plan%-1%.md$')]])
      child:command('%s/no `mut`/nothing that is too much/')
      child:command('Understudy approve')
      local task = child:wait_for_task('review', 'verified')
      assert(task.plan.version == 2 and task.plan.steps[1].status == 'done', vim.inspect(task.plan))
      assert(provider.asked[3]:find('nothing that is too much', 1, true))
      assert(task.usage.tokens == 4040 and task.usage.microdollars == nil, vim.inspect(task.usage))
      child:command('bwipeout! | edit src/lib.rs')
      child:command('Understudy explain What does it do?')
      child:wait('the answer floats', [[vim.api.nvim_win_get_config(0).relative == 'editor']])
      local shown = table.concat(child:lines(), '\n')
      assert(shown:find('It adds.', 1, true) and shown:find('src/lib.rs:1', 1, true), shown)
      child:type('q')
      child:wait('the answer is closed', [[vim.api.nvim_win_get_config(0).relative == '']])
      child:review()
      child:command('Understudy apply')
      assert(child:outcome(1).outcome == 'applied')
      assert(workspace:read('src/lib.rs'):find('let sum =', 1, true))
      provider:stop()
    end,
  },
}
