// Verdicts on hunks and where hunks stand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byFile, consents, describe, hunkAt, lineOf, tally } from '../src/hunks';
import { hunk } from './made';

test('a tally counts what is kept', () => {
  assert.equal(tally([hunk(), hunk({ rejected: true })]), '1 of 2 hunks kept');
  assert.equal(tally([hunk()]), '1 hunk');
});

test('hunks are grouped by file in the order of the report', () => {
  const files = byFile([hunk({ path: 'b' }), hunk({ path: 'a', kind: 'create' }), hunk({ path: 'b', id: 'two' }), hunk({ path: 'c', kind: 'delete' })]);
  assert.deepEqual(files.map(({ path, hunks }) => [path, hunks.length]), [['b', 2], ['a', 1], ['c', 1]]);
  assert.deepEqual(files.map(({ inBase, inTree }) => [inBase, inTree]), [[true, true], [false, true], [true, false]]);
});

test('a hunk stands at its first line, counted from 0', () => {
  assert.equal(lineOf(hunk({ base_start: 1, new_start: 3 }), 'base'), 0);
  assert.equal(lineOf(hunk({ base_start: 1, new_start: 3 }), 'tree'), 2);
  assert.equal(lineOf(hunk({ new_start: 0, new_lines: 0 }), 'tree'), 0);
});

test('the hunk at a line is found on both sides', () => {
  const hunks = [hunk({ id: 'one', base_start: 2, base_lines: 2, new_start: 2, new_lines: 0 }), hunk({ id: 'two', base_start: 9, new_start: 7, new_lines: 3 })];
  const at = (side: 'base' | 'tree') => [0, 1, 2, 6, 8, 9].map((line) => hunkAt(hunks, line, side)?.id);
  assert.deepEqual(at('base'), [undefined, 'one', 'one', undefined, 'two', undefined]);
  assert.deepEqual(at('tree'), [undefined, 'one', undefined, 'two', 'two', undefined]);
  assert.equal(hunkAt([hunk({ kind: 'create', new_lines: 1 })], 20, 'tree')?.kind, 'create');
});

test('a hunk is described by its place and size', () => {
  assert.equal(describe(hunk()), 'line 4: -1 +1');
  assert.equal(describe(hunk({ base_lines: 0, new_lines: 2 })), 'line 4: +2');
  assert.equal(describe(hunk({ new_lines: 0, base_lines: 2 })), 'line 4: -2');
  assert.equal(describe(hunk({ kind: 'move', old_path: 'src/old.rs' })), 'moved from src/old.rs');
});

test('consent is asked for kept hunks alone, once for each file', () => {
  const build = { path: 'build.rs', needs_consent: true };
  assert.deepEqual(consents([hunk(build), hunk({ ...build, id: 'two' }), hunk()]), ['build.rs']);
  assert.deepEqual(consents([hunk({ ...build, rejected: true })]), []);
});
