// The walk in the real UI: a task by palette, its progress, the review, a rejected hunk, apply, undo; files read back each time.
//
// usage: node walk.cjs EDITORS EXTENSION.vsix UNDERSTUDY SHOTS
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { makeProject, readFolder, differences } = require('./project.cjs');
const { startCode, openWorkbench, until } = require('./workbench.cjs');

const [editors, extension, program, shots] = process.argv.slice(2).map((argument) => path.resolve(argument));
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'understudy-vscode-'));
const folder = path.join(scratch, 'walk');
const results = [];

async function step(name, work) {
  const began = Date.now();
  await work();
  results.push(name);
  console.log(`ok   ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
}

function same(expected, what) {
  const differing = differences(expected, readFolder(folder));
  if (differing.length > 0) throw new Error(`${what}, these files differ: ${differing.join(', ')}`);
}

async function walk(ui, { before, after }) {
  const { page, shot, palette, notification, statusBar, lens } = ui;
  await step('the extension is up', async () => {
    await statusBar.filter({ hasText: 'Understudy' }).waitFor();
    await until('the server is ready', async () => (await statusBar.getAttribute('aria-label'))?.includes('no task runs') ?? false);
    await ui.openFile('src/lib.rs');
  });
  await step('a new task by palette', async () => {
    await palette('Understudy: New Task');
    await ui.quickInput.filter({ hasText: 'Understudy: New Task' }).waitFor();
    await page.keyboard.type('fix warnings');
    await ui.row('fix warnings').waitFor();
    await shot('new-task');
    await page.keyboard.press('Enter');
  });
  await step('progress is seen', async () => {
    await statusBar.filter({ hasText: 'fix warnings:' }).waitFor();
    await shot('progress');
  });
  await step('the end is one message, and nothing opens by itself', async () => {
    await notification('fix warnings: verified').waitFor({ timeout: 120_000 });
    if ((await page.locator('.tab').count()) !== 1) throw new Error('an editor opened by itself');
    same(before, 'before an approval');
    await shot('finished');
  });
  await step('the review shows all files in one editor', async () => {
    await notification('fix warnings: verified').getByRole('button', { name: 'Review' }).click();
    await page.locator('.multiDiffEntry, .multi-diff-entry').filter({ hasText: 'numbers.rs' }).first().waitFor();
    await until('three hunks with lenses', async () => (await lens('Reject hunk').count()) === 3);
    await shot('review');
  });
  await step('a hunk is rejected by its lens, and what is kept is checked anew', async () => {
    const whole = await statusBar.textContent();
    await lens('Reject hunk').first().click();
    await lens('Undo reject').first().waitFor();
    await shot('rejected');
    await until('a verdict on another tree', async () => {
      const text = await statusBar.textContent();
      return /Verified [0-9a-f]{8}/.test(text) && text !== whole;
    }, 120);
    await shot('checked');
    same(before, 'before an approval');
  });
  await step('what was rejected can be taken back, and rejected again', async () => {
    await lens('Undo reject').first().click();
    await until('three hunks kept', async () => (await lens('Reject hunk').count()) === 3);
    await lens('Reject hunk').first().click();
    await lens('Undo reject').first().waitFor();
    await until('a verdict', async () => /Verified [0-9a-f]{8}/.test(await statusBar.textContent()), 120);
  });
  await step('the task view shows verdict, checks, files and hunks', async () => {
    await palette('Understudy: Show Tasks');
    const row = page.locator('.pane-body .monaco-list-row').filter({ hasText: 'fix warnings' }).first();
    await row.click();
    await page.locator('.pane-body .monaco-list-row').filter({ hasText: 'cargo test' }).first().waitFor();
    await shot('tasks');
  });
  await step('apply writes base and kept hunks, byte for byte', async () => {
    await palette('Understudy: Apply');
    await notification('fix warnings: applied').waitFor();
    same(after, 'after apply');
    if ((await page.locator('.tab.dirty').count()) !== 0) throw new Error('a document stayed unsaved');
    await shot('applied');
  });
  await step('undo takes it back, byte for byte', async () => {
    await palette('Understudy: Undo');
    await until('the files are as before', () => differences(before, readFolder(folder)).length === 0);
    await notification('taken back').or(notification('undo')).first().waitFor();
    same(before, 'after undo');
    await shot('undone');
  });
}

async function main() {
  fs.mkdirSync(shots, { recursive: true });
  fs.mkdirSync(folder);
  const files = makeProject(path.join(__dirname, 'crate.txt'), folder);
  const env = { ...process.env, UNDERSTUDY_STATE_DIR: path.join(scratch, 'state') };
  const code = await startCode({ editors, extension, scratch, settings: { 'understudy.path': program, 'understudy.trace.server': 'messages' }, env });
  let ui;
  try {
    ui = await openWorkbench({ editors, url: code.url, folder, shots });
    await walk(ui, files);
    return 0;
  } catch (error) {
    console.log(`FAIL after "${results.at(-1) ?? 'the start'}": ${error.message}`);
    await ui?.shot('failed').catch(() => undefined);
    return 1;
  } finally {
    await ui?.close();
    code.stop();
  }
}

main().then((failed) => {
  console.log(`screenshots: ${shots}`);
  if (failed === 0) fs.rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  else console.log(`left for a look: ${scratch}`);
  console.log(`${results.length} passed, ${failed} failed`);
  process.exitCode = failed;
});
