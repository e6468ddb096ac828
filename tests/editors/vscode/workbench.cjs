// The real VS Code UI: code-server on loopback, and Chromium that looks at it. Everything waits on what can be seen.
const { spawn, execFileSync } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const net = require('node:net');
const path = require('node:path');

/** Nothing asks, nothing updates, nothing tips; git is left alone so that nobody but the server touches the folder. */
const QUIET = {
  'workbench.startupEditor': 'none', 'workbench.tips.enabled': false, 'git.enabled': false, 'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false, 'extensions.ignoreRecommendations': true, 'chat.commandCenter.enabled': false,
  'window.commandCenter': false, 'telemetry.telemetryLevel': 'off', 'workbench.enableExperiments': false,
  'files.autoSave': 'off', 'chat.disableAIFeatures': true, 'workbench.secondarySideBar.defaultVisibility': 'hidden', 'workbench.editor.limit.enabled': false, 'security.workspace.trust.enabled': false,
};

function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function answers(url) {
  return new Promise((resolve) => {
    const request = http.get(url, (response) => { response.resume(); resolve(response.statusCode === 200); });
    request.once('error', () => resolve(false));
  });
}

/** Calls until the answer is true; the limit is for what will never come. */
async function until(what, isSo, seconds = 60) {
  const end = Date.now() + seconds * 1000;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`waited ${seconds} s in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Starts code-server with the extension installed and nothing else. */
async function startCode({ editors, extension, scratch, settings, env }) {
  const entry = path.join(editors, 'node_modules/code-server/out/node/entry.js');
  const node = path.join(editors, 'node');
  const folders = ['--user-data-dir', path.join(scratch, 'user'), '--extensions-dir', path.join(scratch, 'extensions')];
  const config = path.join(scratch, 'code-server.yaml');
  // Settings of a machine, the path of a program among them, stand in a file of their own where the editor is in a browser.
  for (const name of ['User', 'Machine']) {
    fs.mkdirSync(path.join(scratch, 'user', name), { recursive: true });
    fs.writeFileSync(path.join(scratch, 'user', name, 'settings.json'), JSON.stringify({ ...QUIET, ...settings }));
  }
  fs.writeFileSync(config, '');
  const quiet = { stdio: ['ignore', 'pipe', 'pipe'], env };
  execFileSync(node, [entry, '--config', config, ...folders, '--install-extension', extension, '--force'], quiet);
  const port = await freePort();
  const options = ['--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, '--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'];
  const log = fs.openSync(path.join(scratch, 'code-server.log'), 'a');
  const code = spawn(node, [entry, '--config', config, ...folders, ...options], { stdio: ['ignore', log, log], env, detached: true });
  const url = `http://127.0.0.1:${port}`;
  await until('code-server answers', () => answers(`${url}/healthz`));
  return { url, stop: () => { try { process.kill(-code.pid, 'SIGTERM'); } catch { /* it has gone already */ } } };
}

/** Opens the workbench on a folder; answers the page and what a person does with it. */
async function openWorkbench({ editors, url, folder, shots, count }) {
  const { chromium } = require(path.join(editors, 'node_modules/playwright-core'));
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  page.setDefaultTimeout(60_000);
  await page.goto(`${url}/?folder=${encodeURIComponent(folder)}`);
  await page.locator('.monaco-workbench').waitFor();
  const shot = async (name) => {
    count.shots += 1;
    await page.screenshot({ path: path.join(shots, `${String(count.shots).padStart(2, '0')}-${name}.png`) });
  };
  const quickInput = page.locator('.quick-input-widget:visible');
  const input = quickInput.locator('input.input');
  const row = (text) => quickInput.locator('.monaco-list-row').filter({ hasText: text }).first();
  /** The row that Enter takes. */
  const chosen = (text) => quickInput.locator('.monaco-list-row.focused').filter({ hasText: text }).first();
  /**
   * Opens the quick input by a key, and takes a row once it is the one that Enter takes. What is listed is gathered when it
   * opens, and a key that comes too early is lost, so it is opened again until then.
   */
  const pick = async (key, text, wanted) => {
    await until(`a row says ${wanted}`, async () => {
      await page.keyboard.press(key);
      const look = async () => { await input.fill(text, { timeout: 10_000 }); await chosen(wanted).waitFor({ timeout: 10_000 }); };
      return look().then(() => true, () => false);
    });
    await input.press('Enter');
    // Until then, what is typed for the next input would go into this one.
    await until('the row is taken', async () => (await input.count()) === 0 || (await page.locator('.quick-input-widget input.input').first().inputValue()) !== text);
  };
  /** Runs a command as a person does: by its name in the palette. */
  const palette = (title) => pick('F1', `>${title}`, title);
  /** The input that a command opened. */
  const asked = (title) => quickInput.locator('.quick-input-title').filter({ hasText: title }).waitFor();
  /** Fills the input of a title and accepts it. Never types at the page: what has no focus yet would get the letters. */
  const answer = async (title, text, look = async () => undefined) => {
    await asked(title);
    await input.fill(text);
    await look();
    await input.press('Enter');
  };
  const openFile = async (name) => {
    await pick('Control+P', name, path.basename(name));
    await page.locator('.tab.active').filter({ hasText: path.basename(name) }).waitFor();
    await inEditor();
  };
  /** Keys go into a text now. */
  const inEditor = () => page.locator('.editor-instance .monaco-editor.focused').waitFor();
  const goTo = async (line, column) => {
    await pick('Control+G', `:${line}:${column}`, /go to line/i);
    await page.locator('.statusbar-item').filter({ hasText: `Ln ${line}, Col ${column}` }).waitFor();
    await inEditor();
  };
  const notification = (text) => page.locator('.notification-toast.notification-fade-in-done .notification-list-item').filter({ hasText: text }).first();
  const statusBar = page.locator('.statusbar-item[id*="understudy"]').first();
  const lens = (text) => page.locator('.codelens-decoration a, .codelens-decoration span').filter({ hasText: text });
  /** Puts the cursor into a line of the right side of a diff. */
  const cursorIn = (text) => page.locator('.modified-in-monaco-diff-editor .view-line, .editor.modified .view-line').filter({ hasText: text }).first().click();
  const changedFile = (name) => page.locator('.multiDiffEntry').filter({ hasText: name }).first();
  return { page, shot, palette, asked, answer, chosen, openFile, inEditor, goTo, notification, statusBar, lens, changedFile, cursorIn, row, close: () => browser.close() };
}

module.exports = { startCode, openWorkbench, until };
