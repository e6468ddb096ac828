// Text of others stays text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lensesOf } from '../src/lenses';
import { plain, iconless } from '../src/plain';
import { byFile } from '../src/hunks';
import { keptLabel } from '../src/words';
import { hunk, task } from './made';

test('a message of others has no links', () => {
  assert.equal(plain('see [this](command:evil)'), 'see [this] (command:evil)');
});

test('a label of others has no icons', () => {
  assert.equal(iconless('$(check) verified'), '$ (check) verified');
  const doing = task({ status: 'checking', kept_verdict: null, doing: '$(pass) Verified', next: ['cancel'] });
  assert.equal(keptLabel(doing), '$(loading~spin) $ (pass) Verified');
  const [file] = byFile([hunk()]);
  assert.ok(file);
  assert.ok(lensesOf(doing, file, 'tree', true).every((lens) => !lens.title.includes('$(pass)')));
});
