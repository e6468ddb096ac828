// Loaded first in every node process of a check: notes which files are read, and makes a test process fail that ends
// before its tests do. The notes are made by the code that is judged: good enough to say what a check looked at.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { isMainThread, threadId } = require('node:worker_threads');

const folder = process.env.UNDERSTUDY_SEEN;
if (folder) {
  const noted = new Set();
  const notes = path.join(folder, `${process.pid}-${threadId}`);
  const append = fs.appendFileSync;
  // Jest reads every file once to find its way about; only what it reads for tests counts.
  let active = process.env.UNDERSTUDY_TOOL !== 'jest';
  const note = (file) => {
    if (!active) return;
    try {
      if (file instanceof URL) file = file.protocol === 'file:' ? decodeURIComponent(file.pathname) : undefined;
      if (typeof file === 'string' && file.startsWith('file://')) file = decodeURIComponent(new URL(file).pathname);
      if (typeof file !== 'string' || file === '' || file.startsWith('node:')) return;
      file = path.resolve(file.split('?')[0]);
      if (noted.has(file) || file.includes('/node_modules/') || file.startsWith(folder)) return;
      noted.add(file);
      append(notes, `${file}\0`);
    } catch {
      // Whatever a test did to the file system, its result does not depend on this.
    }
  };
  if (!active) {
    const Module = require('node:module');
    const load = Module._load;
    Module._load = function (request, ...rest) {
      if (!active && /jest-environment-|jest-circus|jest-jasmine/.test(String(request))) active = true;
      return load.call(this, request, ...rest);
    };
  }
  const reads = (flags) => flags === undefined || typeof flags !== 'string' || flags.startsWith('r');
  const wrap = (object, name, flagged) => {
    const original = object[name];
    const wrapped = function (file, ...rest) {
      if (!flagged || reads(rest[0])) note(file);
      return original.call(this, file, ...rest);
    };
    for (const key of Reflect.ownKeys(original)) {
      if (!['length', 'name', 'prototype'].includes(key)) wrapped[key] = original[key];
    }
    Object.defineProperty(wrapped, 'name', { value: name });
    object[name] = wrapped;
  };
  for (const name of ['readFile', 'readFileSync']) wrap(fs, name, false);
  for (const name of ['open', 'openSync']) wrap(fs, name, true);
  wrap(fs.promises, 'readFile', false);
  wrap(fs.promises, 'open', true);
  // Vite keeps its compiled configuration among the installed packages, and elsewhere only where it is told that it may
  // not: that nobody may is an answer which it does not know.
  const mkdir = fs.promises.mkdir;
  fs.promises.mkdir = async function (folder, ...rest) {
    try {
      return await mkdir.call(this, folder, ...rest);
    } catch (error) {
      if (error.code === 'EROFS' && String(folder).includes('/node_modules/')) error.code = 'EACCES';
      throw error;
    }
  };
  require('node:module').syncBuiltinESMExports();

  let ended = false;
  // Programs that tests start inherit this too: only where tests were declared something is cut short.
  const declaresTests = () =>
    isMainThread &&
    process.env.NODE_TEST_CONTEXT !== undefined &&
    process.moduleLoadList.some((name) => name.includes('internal/test_runner/harness'));
  process.on('beforeExit', () => {
    ended = true;
  });
  process.on('exit', () => {
    try {
      // Every script that is alive, whichever loader it came by.
      const { Session } = require('node:inspector');
      const session = new Session();
      session.connect();
      session.on('Debugger.scriptParsed', ({ params }) => {
        if (params.url.startsWith('file://') || params.url.startsWith('/')) note(params.url);
      });
      session.post('Debugger.enable');
      session.disconnect();
    } catch {
      // A node that was built without it.
    }
    if (!ended && declaresTests() && !process.exitCode && !process.execArgv.includes('--test-force-exit')) {
      process.exitCode = 86;
      fs.writeSync(2, 'the process was ended by process.exit before its tests were over\n');
    }
  });
}
