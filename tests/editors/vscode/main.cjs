// Runs the walks in the real UI one after the other and closes on a count.
//
// usage: node main.cjs EDITORS EXTENSION.vsix UNDERSTUDY SHOTS
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { MOVES, converse } = require('./model.cjs');
const { makeProject } = require('./project.cjs');
const { configure, startProvider } = require('./provider.cjs');
const { fixWarnings, renameHalf, comment, prove, restricted } = require('./walk.cjs');
const { startCode, openWorkbench } = require('./workbench.cjs');

const [editors, extension, program, shots] = process.argv.slice(2).map((argument) => path.resolve(argument));
const count = { passed: 0, failed: 0, shots: 0 };

async function step(name, work) {
  const began = Date.now();
  await work();
  count.passed += 1;
  console.log(`ok   ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
}

/** One editor with its own folders, closed whatever happens. */
async function inEditor(name, settings, work, prepare = async () => ({})) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), `understudy-vscode-${name}-`));
  const folder = path.join(scratch, 'walk');
  fs.mkdirSync(folder);
  let code;
  let ui;
  try {
    const files = makeProject(path.join(__dirname, 'crate.txt'), folder);
    const state = path.join(scratch, 'state');
    const env = { ...process.env, UNDERSTUDY_STATE_DIR: state };
    const more = await prepare(scratch, env);
    const all = { 'understudy.path': program, 'understudy.trace.server': 'messages', ...settings };
    code = await startCode({ editors, extension, scratch, settings: all, env });
    ui = await openWorkbench({ editors, url: code.url, folder, shots, count });
    await work(ui, { folder, state, env, program, ...files, ...more });
    await ui.close();
    code.stop();
    fs.rmSync(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  } catch (error) {
    count.failed += 1;
    console.log(`FAIL ${name}: ${error.message}`);
    await ui?.shot('failed').catch(() => undefined);
    await ui?.close();
    code?.stop();
    console.log(`left for a look: ${scratch}`);
  }
}

async function main() {
  fs.rmSync(shots, { recursive: true, force: true });
  fs.mkdirSync(shots, { recursive: true });
  await inEditor('walk', {}, async (ui, project) => {
    await fixWarnings(ui, step, project);
    await renameHalf(ui, step, project);
    await comment(ui, step, project);
    await prove(ui, step, project);
  });
  const provider = await startProvider(MOVES);
  await inEditor('model', {}, (ui, project) => converse(ui, step, { ...project, provider }), async (scratch, env) => {
    env.XDG_CONFIG_HOME = path.join(scratch, 'config');
    configure(env.XDG_CONFIG_HOME, provider.url);
  });
  provider.stop();
  const distrust = { 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'never' };
  await inEditor('restricted', distrust, (ui) => restricted(ui, step));
  console.log(`screenshots: ${shots}`);
  console.log(`${count.passed} passed, ${count.failed} failed`);
  process.exitCode = count.failed === 0 ? 0 : 1;
}

main();
