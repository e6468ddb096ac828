// The walk of a task for a language model in the real UI: a question, a plan that is edited, the change, an explanation.
const { execFileSync } = require('node:child_process');
const { until } = require('./workbench.cjs');

/** What the scripted model does. */
const MOVES = [
  ['ask', { questions: [{ text: 'Which of them?', options: ['the first', 'all'] }] }],
  ['propose_plan', { steps: [{ id: '1', title: 'Mend it', paths: ['src/**'], delivers: 'no `mut`', reasoning: 'It warns.' }] }],
  ['edit', { edits: [
    { path: 'src/lib.rs', old: 'let mut area', new: 'let area' },
    { path: 'src/lib.rs', old: 'let mut double', new: 'let double' },
    { path: 'src/numbers.rs', old: 'let mut half', new: 'let half' },
  ] }],
  ['done', { summary: 'mended' }],
  ['answer', { text: 'It multiplies.', citations: [{ path: 'src/lib.rs', first_line: 6, last_line: 9 }] }],
];

async function converse(ui, step, { provider, program, env }) {
  const { page, shot, palette, notification, statusBar, row } = ui;
  const tasks = (...args) => JSON.parse(execFileSync(program, ['tasks', ...args, '--json'], { env }));
  await step('the extension is up', () => until('the server is ready', async () => (await statusBar.getAttribute('aria-label'))?.includes('no task runs') ?? false));
  await step('a task in free words asks a question, which is answered', async () => {
    await palette('Understudy: New Task');
    await ui.answer('take what is too much');
    await notification('asks you something').waitFor({ timeout: 120_000 });
    await shot('asked');
    await notification('asks you something').getByRole('button', { name: 'Answer' }).click();
    await row('all').click();
  });
  await step('its plan waits, and is edited as a document', async () => {
    // Its message is not always seen where the wait follows at once upon an answer; here it stands as long as it lasts.
    await until('the plan waits', async () => (await statusBar.getAttribute('aria-label'))?.includes('waits for your yes') ?? false);
    if (!provider.asked[1].includes('all')) throw new Error('the answer did not reach the model');
    await palette('Understudy: Open Plan');
    await page.locator('.tab.active').filter({ hasText: '.plan-1.md' }).waitFor();
    await page.locator('.editor-instance .view-line').filter({ hasText: 'It warns.' }).first().click();
    await page.keyboard.press('End');
    await page.keyboard.type(' And it is not needed.');
    await shot('plan');
    await palette('Understudy: Approve Plan');
  });
  await step('what was approved is what stood in the document', async () => {
    await notification('take what is too much: verified').waitFor({ timeout: 120_000 });
    const [{ id }] = tasks('list');
    const { plan, usage } = tasks('show', id);
    if (plan.version !== 2 || !plan.steps[0].reasoning.endsWith('And it is not needed.')) throw new Error(JSON.stringify(plan));
    if (usage.tokens !== 4040) throw new Error(JSON.stringify(usage));
  });
  await step('the task view shows the steps of the plan and what was used', async () => {
    await palette('Understudy: Show Tasks');
    const rows = page.locator('.pane-body .monaco-list-row');
    await rows.filter({ hasText: 'take what is too much' }).first().click();
    await rows.filter({ hasText: 'Mend it' }).first().waitFor();
    await rows.filter({ hasText: '4,040' }).first().waitFor();
    await shot('steps');
  });
  await step('a question about the code is answered in a preview', async () => {
    await ui.openFile('src/lib.rs');
    await palette('Understudy: Explain');
    await ui.answer('What does it do?');
    await page.locator('.tab').filter({ hasText: 'Understudy Answer' }).waitFor({ timeout: 60_000 });
    await shot('explained');
  });
}

module.exports = { MOVES, converse };
