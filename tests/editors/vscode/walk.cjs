// The walk in the real UI: a task by palette, its progress, the review, a rejected hunk, apply, undo; files read back each time.
const path = require('node:path');
const { readFolder, differences } = require('./project.cjs');
const { until } = require('./workbench.cjs');

function same(expected, folder, when) {
  const differing = differences(expected, readFolder(folder));
  if (differing.length > 0) throw new Error(`${when}, these files differ: ${differing.join(', ')}`);
}

const VERIFIED = /Verified ([0-9a-f]{8})/;

/** `fix warnings` in a crate with three hunks, of which the first is rejected. */
async function fixWarnings(ui, step, { folder, before, after }) {
  const { page, shot, palette, notification, statusBar, lens } = ui;
  await step('the extension is up', async () => {
    await statusBar.filter({ hasText: 'Understudy' }).waitFor();
    await until('the server is ready', async () => (await statusBar.getAttribute('aria-label'))?.includes('no task runs') ?? false);
    await ui.openFile('src/lib.rs');
  });
  await step('a new task by palette', async () => {
    await palette('Understudy: New Task');
    await ui.quickInput.filter({ hasText: 'Understudy: New Task' }).waitFor();
    await ui.answer('fix warnings', () => shot('new-task'));
  });
  await step('progress is seen', async () => {
    await statusBar.filter({ hasText: 'fix warnings:' }).waitFor();
    await shot('progress');
  });
  await step('the end is one message, and nothing opens by itself', async () => {
    await notification('fix warnings: verified').waitFor({ timeout: 120_000 });
    if ((await page.locator('.tab').count()) !== 1) throw new Error('an editor opened by itself');
    same(before, folder, 'before an approval');
    await shot('finished');
  });
  await step('the review shows all files in one editor', async () => {
    await notification('fix warnings: verified').getByRole('button', { name: 'Review' }).click();
    await ui.changedFile('numbers.rs').waitFor();
    await until('three hunks with lenses', async () => (await lens('Reject hunk').count()) === 3);
    await shot('review');
  });
  let whole = '';
  await step('a hunk is rejected by its lens, and what is kept is checked anew', async () => {
    whole = VERIFIED.exec(await statusBar.textContent())?.[1] ?? '';
    await lens('Reject hunk').first().click();
    await lens('Undo reject').first().waitFor();
    await shot('rejected');
    await until('a verdict on another tree', async () => {
      const tree = VERIFIED.exec(await statusBar.textContent())?.[1] ?? whole;
      return tree !== whole;
    }, 120);
    await shot('checked');
    same(before, folder, 'before an approval');
  });
  await step('what was rejected can be taken back, and rejected again', async () => {
    await lens('Undo reject').first().click();
    await until('three hunks kept', async () => (await lens('Reject hunk').count()) === 3);
    await until('the whole is verified', async () => VERIFIED.exec(await statusBar.textContent())?.[1] === whole, 120);
    await lens('Reject hunk').first().click();
    await lens('Undo reject').first().waitFor();
  });
  await step('the task view shows verdict, checks, files and hunks', async () => {
    await palette('Understudy: Show Tasks');
    const rows = page.locator('.pane-body .monaco-list-row');
    await rows.filter({ hasText: 'fix warnings' }).first().click();
    await rows.filter({ hasText: 'cargo test' }).first().waitFor({ timeout: 120_000 });
    await shot('tasks');
  });
  await step('apply writes base and kept hunks, byte for byte', async () => {
    await until('a verdict', async () => VERIFIED.test(await statusBar.textContent()), 120);
    await palette('Understudy: Apply');
    await notification('fix warnings: applied').waitFor();
    same(after, folder, 'after apply');
    await until('every document is saved', async () => (await page.locator('.tab.dirty').count()) === 0);
    await shot('applied');
  });
  await step('undo takes it back, byte for byte', async () => {
    await palette('Understudy: Undo');
    await until('the files are as before', () => differences(before, readFolder(folder)).length === 0);
    await until('every document is saved', async () => (await page.locator('.tab.dirty').count()) === 0);
    same(before, folder, 'after undo');
    await shot('undone');
  });
}

/** In a workspace that is not trusted nothing starts, and every command says why. */
async function restricted(ui, step) {
  await step('in a workspace that is not trusted, nothing starts and the reason is said', async () => {
    await ui.statusBar.filter({ hasText: 'Understudy' }).waitFor();
    await ui.palette('Understudy: New Task');
    await ui.notification('not trusted').waitFor();
    await ui.palette('Understudy: Show Tasks');
    await ui.page.getByText('does not start in a workspace that you do not trust').waitFor();
    await ui.shot('restricted');
  });
}

module.exports = { fixWarnings, restricted };
