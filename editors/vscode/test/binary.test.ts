// Where the program is found.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { findProgram } from '../src/binary';

let root = '';
before(() => {
  root = mkdtempSync(join(tmpdir(), 'understudy-binary-'));
  for (const place of ['own', 'extension/bin', 'path']) {
    mkdirSync(join(root, place), { recursive: true });
    const program = join(root, place, 'understudy');
    writeFileSync(program, '#!/bin/sh\n');
    chmodSync(program, 0o755);
  }
});
after(() => {
  rmSync(root, { recursive: true });
});

const places = (over: object) => ({ setting: '', extension: join(root, 'none'), isTrusted: true, path: `relative:${join(root, 'path')}`, ...over });

test('the setting wins over the bundled program, and that over PATH', () => {
  const extension = join(root, 'extension');
  const setting = join(root, 'own/understudy');
  assert.deepEqual(findProgram(places({ setting, extension })), { program: setting });
  assert.deepEqual(findProgram(places({ extension })), { program: join(extension, 'bin/understudy') });
  assert.deepEqual(findProgram(places({})), { program: join(root, 'path/understudy') });
});

test('PATH is not asked in a workspace that is not trusted', () => {
  assert.ok('problem' in findProgram(places({ isTrusted: false })));
});

test('a setting that names no program is said and not passed over', () => {
  for (const setting of ['bin/understudy', join(root, 'absent'), root]) assert.ok('problem' in findProgram(places({ setting })), setting);
});
