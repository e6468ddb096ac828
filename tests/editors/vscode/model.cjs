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
    await ui.answer('Understudy: New Task', 'take what is too much', () => ui.chosen('start this task').waitFor());
    const asks = notification('take what is too much: asks you: Which of them?');
    await asks.waitFor({ timeout: 120_000 });
    await shot('asked');
    await asks.getByRole('button', { name: 'Answer' }).click();
    await ui.asked('take what is too much');
    await row('the first').waitFor();
    await shot('answer');
    await row('all').click();
  });
  await step('its plan waits, which is said though it follows at once upon the answer', async () => {
    const waits = notification('take what is too much: waits for your yes to its plan');
    await waits.waitFor();
    if (!provider.asked[1].includes('all')) throw new Error('the answer did not reach the model');
    await waits.getByRole('button', { name: 'Approve' }).waitFor();
    await shot('waits');
    await waits.getByRole('button', { name: 'Open Plan' }).click();
  });
  const approve = page.locator('.editor-actions').getByRole('button', { name: 'Approve Plan' });
  await step('the plan is edited as a document and approved where it stands', async () => {
    await page.locator('.tab.active').filter({ hasText: '.plan-1.md' }).waitFor();
    const line = page.locator('.editor-instance .view-line').filter({ hasText: 'It warns.' }).first();
    await line.click();
    await ui.inEditor();
    await page.keyboard.press('End');
    await page.keyboard.insertText(' And it is not needed.');
    await line.filter({ hasText: 'It warns. And it is not needed.' }).waitFor();
    await page.locator('.tab.active.dirty').waitFor();
    await shot('plan');
    await approve.click();
  });
  await step('what was approved is what stood in the document', async () => {
    await notification('take what is too much: verified').waitFor({ timeout: 120_000 });
    const [{ id }] = tasks('list');
    const { plan, usage } = tasks('show', id);
    if (plan.version !== 2 || !plan.steps[0].reasoning.endsWith('And it is not needed.')) throw new Error(JSON.stringify(plan));
    if (usage.tokens !== 4040) throw new Error(JSON.stringify(usage));
    await approve.waitFor({ state: 'detached' });
    await until('the plan is saved', async () => (await page.locator('.tab.dirty').count()) === 0);
    if ((await page.locator('.notification-toast').filter({ hasText: 'interrupted' }).count()) !== 0) throw new Error('it was called interrupted');
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
    await ui.answer('Understudy: Explain', 'What does it do?');
    await page.locator('.tab.active').filter({ hasText: 'Understudy Answer' }).waitFor();
    const preview = page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
    await preview.getByText('It multiplies.').waitFor();
    const cited = preview.getByRole('link', { name: 'src/lib.rs:6-9' });
    await cited.waitFor();
    await shot('explained');
    await cited.click();
    await page.locator('.tab.active').filter({ hasText: 'lib.rs' }).waitFor();
    await page.locator('.statusbar-item').filter({ hasText: 'Ln 6, Col 1' }).waitFor();
  });
}

module.exports = { MOVES, converse };
