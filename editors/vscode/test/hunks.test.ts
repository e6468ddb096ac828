// Verdicts on hunks and where hunks stand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byFile, consents, describe, judge, lineOf, tally } from '../src/hunks';
import { hunk } from './made';

test('what the kept tree lacks was rejected', () => {
  const judged = judge([hunk({ id: 'one' }), hunk({ id: 'two' })], [hunk({ id: 'two', new_start: 9 })]);
  assert.deepEqual(judged.map(({ id, rejected }) => [id, rejected]), [['one', true], ['two', false]]);
  assert.equal(tally(judged), '1 of 2 hunks kept');
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
