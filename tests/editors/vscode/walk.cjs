// The walk in the real UI: a task by palette, its progress, the review, a rejected hunk, apply, undo; files read back each time.
const { readFolder, differences } = require('./project.cjs');
const { serverOf } = require('./process.cjs');
const { until } = require('./workbench.cjs');

function same(expected, folder, when) {
  const differing = differences(expected, readFolder(folder));
  if (differing.length > 0) throw new Error(`${when}, these files differ: ${differing.join(', ')}`);
}

const VERIFIED = /Verified ([0-9a-f]{8})/;

/** `fix warnings` in a crate with three hunks, of which the first is rejected. */
async function fixWarnings(ui, step, { folder, before, applied }) {
  const { page, shot, palette, notification, statusBar, lens } = ui;
  await step('the extension is up', async () => {
    await statusBar.filter({ hasText: 'Understudy' }).waitFor();
    await until('the server is ready', async () => (await statusBar.getAttribute('aria-label'))?.includes('no task runs') ?? false);
    await ui.openFile('src/lib.rs');
  });
  await step('a new task by palette', async () => {
    await palette('Understudy: New Task');
    await ui.answer('Understudy: New Task', 'fix warnings', async () => {
      await ui.chosen('start this task').waitFor();
      await shot('new-task');
    });
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
  await step('what was rejected can be taken back, and rejected again at the cursor', async () => {
    await lens('Undo reject').first().click();
    await until('three hunks kept', async () => (await lens('Reject hunk').count()) === 3);
    await until('the whole is verified', async () => VERIFIED.exec(await statusBar.textContent())?.[1] === whole, 120);
    await ui.cursorIn('let area = side');
    await palette('Understudy: Reject Hunk');
    await lens('Undo reject').first().waitFor();
  });
  await step('a reload of the window keeps the review', async () => {
    await page.reload();
    await page.locator('.monaco-workbench').waitFor();
    await until('the verdict is back', async () => VERIFIED.test(await statusBar.textContent()), 60);
    // VS Code restores the editor itself only where it had the time to write it down before the window went.
    await palette('Understudy: Review');
    await lens('Undo reject').first().waitFor();
    await until('two hunks kept', async () => (await lens('Reject hunk').count()) === 2);
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
    await notification('fix warnings: Applied').waitFor();
    same(applied, folder, 'after apply');
    await until('every document is saved', async () => (await page.locator('.tab.dirty').count()) === 0);
    await shot('applied');
  });
  await step('undo takes it back, byte for byte', async () => {
    await palette('Understudy: Undo');
    await notification('fix warnings: Undone').waitFor();
    await until('every document is saved', async () => (await page.locator('.tab.dirty').count()) === 0);
    same(before, folder, 'after undo');
    await shot('undone');
  });
}

/** A rename at the cursor of which half is rejected: a tree that does not build, asked about before it is written. */
async function renameHalf(ui, step, { folder, state, before, renamed }) {
  const { page, shot, palette, notification, statusBar, lens } = ui;
  await step('a rename at the cursor', async () => {
    await ui.openFile('src/numbers.rs');
    await ui.goTo(4, 8);
    await palette('Understudy: Rename Symbol and Prove It');
    await ui.answer('Rename half everywhere', 'halved', () => shot('rename'));
    const ended = notification(/rename.*: verified/);
    await ended.waitFor({ timeout: 180_000 });
    await ended.getByRole('button', { name: 'Review' }).click();
    await ui.changedFile('lib.rs').waitFor();
    await until('two hunks with lenses', async () => (await lens('Reject hunk').count()) === 2);
  });
  await step('half of a rename is not verified', async () => {
    await lens('Reject hunk').last().click();
    await lens('Undo reject').first().waitFor();
    await statusBar.filter({ hasText: /Not verified [0-9a-f]{8}/ }).waitFor({ timeout: 120_000 });
    await shot('not-verified');
  });
  await step('a server that is killed comes back, and the review is as it was', async () => {
    const killed = serverOf(state);
    process.kill(killed, 'SIGKILL');
    await until('another server', () => serverOf(state) !== undefined && serverOf(state) !== killed);
    await statusBar.filter({ hasText: /Not verified [0-9a-f]{8}/ }).waitFor();
    await lens('Undo reject').first().waitFor();
    await lens('Reject hunk').first().waitFor();
  });
  const dialog = page.locator('.monaco-dialog-box');
  await step('what is not verified is asked about, and nothing is written before the answer', async () => {
    await palette('Understudy: Apply');
    await dialog.filter({ hasText: 'not verified' }).waitFor();
    await shot('asked');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    same(before, folder, 'after Cancel');
  });
  await step('the answer names the tree, and exactly what is kept is written', async () => {
    await palette('Understudy: Apply');
    await dialog.getByRole('button', { name: /^Apply [0-9a-f]{8} Unverified$/ }).click();
    await notification(/rename.*: Applied/).waitFor();
    same(renamed, folder, 'after apply');
    await palette('Understudy: Undo');
    await notification(/rename.*: Undone/).waitFor();
    same(before, folder, 'after undo');
  });
}

/** A task from a comment that is not saved: unsaved text is part of the base, and stays unsaved. */
async function comment(ui, step, { folder, before, fixed }) {
  const { page, shot, palette, notification, lens } = ui;
  await step('a comment is a task of its own, unsaved as it is', async () => {
    await ui.openFile('src/lib.rs');
    await ui.goTo(3, 13);
    await page.keyboard.insertText('\n// understudy: fix warnings');
    await page.locator('.tab.active.dirty').waitFor();
    await page.keyboard.press('Control+.');
    const action = page.locator('.action-widget .monaco-list-row').filter({ hasText: 'do `fix warnings`' });
    await action.waitFor();
    await shot('comment');
    // The list takes no clicks before the mouse has moved over it.
    await action.hover({ force: true });
    await action.click();
    await notification('fix warnings: verified').waitFor({ timeout: 120_000 });
    same(before, folder, 'before an approval');
    await notification('fix warnings: verified').getByRole('button', { name: 'Review' }).click();
    await until('three hunks and the comment', async () => (await lens('Reject hunk').count()) === 4);
    await shot('comment-review');
  });
  await step('what was not saved is edited and left unsaved', async () => {
    await palette('Understudy: Apply');
    await notification('fix warnings: Applied').filter({ hasText: 'not saved: src/lib.rs' }).waitFor();
    await shot('comment-applied');
    await ui.openFile('src/lib.rs');
    await page.locator('.tab.active.dirty').waitFor();
    await page.keyboard.press('Control+S');
    await until('every document is saved', async () => (await page.locator('.tab.dirty').count()) === 0);
    same(fixed, folder, 'after saving');
  });
}

/** What the developer changed, or another tool did, against the last commit. */
async function prove(ui, step, { folder, fixed }) {
  const { shot, palette, notification } = ui;
  await step('changes of the working tree are proved, and nothing is written', async () => {
    await palette('Understudy: Prove My Changes');
    const ended = notification('working tree against HEAD: verified');
    await ended.waitFor({ timeout: 120_000 });
    await ended.getByRole('button', { name: 'Review' }).click();
    await ui.page.locator('.tab.active').filter({ hasText: 'working tree' }).waitFor();
    await ui.changedFile('numbers.rs').waitFor();
    await shot('proved');
    same(fixed, folder, 'after proving');
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

module.exports = { fixWarnings, renameHalf, comment, prove, restricted };
