// The project that the walk is made on: written from an archive, put into git, and read back byte for byte.
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

/** `-- NAME --` begins a file; what stands before the first is a comment. */
function archive(file) {
  const parts = fs.readFileSync(file, 'utf8').split(/^-- (.+) --\n/m).slice(1);
  const files = new Map();
  for (let at = 0; at < parts.length; at += 2) files.set(parts[at], parts[at + 1]);
  return files;
}

/** Writes a project into a new folder; answers its files now, and by name what they are later. `-- LATER: NAME --` says so. */
function makeProject(file, folder) {
  const states = { before: new Map() };
  for (const [name, text] of archive(file)) {
    const [, state = 'before', path] = /^(?:(\w+): )?(.+)$/.exec(name);
    states[state] ??= new Map(states.before);
    states[state].set(path, text);
  }
  const { before } = states;
  for (const [name, text] of before) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  }
  const git = (...args) => execFileSync('git', ['-c', 'user.name=Walk', '-c', 'user.email=walk@localhost', ...args], { cwd: folder });
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'Areas');
  return states;
}

/** Every file of a folder but git's own. */
function readFolder(folder) {
  const files = new Map();
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const name = path.relative(folder, path.join(entry.parentPath, entry.name));
    if (entry.isFile() && !name.startsWith('.git/')) files.set(name, fs.readFileSync(path.join(folder, name), 'utf8'));
  }
  return files;
}

/** Names of files that differ; empty where both are the same byte for byte. */
function differences(one, other) {
  const names = new Set([...one.keys(), ...other.keys()]);
  return [...names].filter((name) => one.get(name) !== other.get(name)).sort();
}

module.exports = { makeProject, readFolder, differences };
