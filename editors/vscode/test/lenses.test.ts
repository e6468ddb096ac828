// What stands above hunks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byFile } from '../src/hunks';
import { lensesOf } from '../src/lenses';
import { hunk, task } from './made';

function fileOf(...hunks: ReturnType<typeof hunk>[]) {
  const [file] = byFile(hunks);
  assert.ok(file);
  return file;
}

test('a kept hunk can be rejected, a rejected one kept again', () => {
  const lenses = lensesOf(task(), fileOf(hunk({ id: 'one' }), hunk({ id: 'two', new_start: 9, rejected: true })), 'tree', false);
  const on = (line: number) => lenses.filter((lens) => lens.line === line && lens.command && !lens.title.includes('file'));
  assert.deepEqual(on(3).map((lens) => [lens.command, lens.arguments]), [
    ['understudy.rejectHunks', [{ task: 'k3x9', tree: 'a'.repeat(40), hunks: ['one'] }]],
  ]);
  assert.deepEqual(on(8).map((lens) => [lens.title, lens.command]), [['Undo reject', 'understudy.keepHunks']]);
});

test('the first file says what is kept and offers to apply it', () => {
  const titles = (isFirst: boolean) => lensesOf(task(), fileOf(hunk()), 'tree', isFirst).map((lens) => lens.title);
  assert.deepEqual(titles(true), ['$(check) Kept', '$(x) Reject hunk', '$(check-all) Apply aaaaaaaa, verified']);
  assert.deepEqual(titles(false), ['$(check) Kept', '$(x) Reject hunk']);
});

test('a file with several hunks can be decided on as one', () => {
  const lenses = lensesOf(task(), fileOf(hunk({ id: 'one' }), hunk({ id: 'two' })), 'tree', false);
  const whole = lenses.find((lens) => lens.title === 'Reject file');
  assert.deepEqual(whole?.arguments, [{ task: 'k3x9', tree: 'a'.repeat(40), hunks: ['one', 'two'] }]);
});

test('what is kept can be checked where no check began by itself', () => {
  const titles = lensesOf(task({ kept_verdict: null }), fileOf(hunk()), 'tree', true).map((lens) => lens.title);
  assert.equal(titles.at(-1), '$(beaker) Check what is kept');
});

test('lenses stand on the side that has text', () => {
  assert.deepEqual(lensesOf(task(), fileOf(hunk()), 'base', true), []);
  const gone = fileOf(hunk({ kind: 'delete', new_start: 0, new_lines: 0, base_start: 1 }));
  assert.deepEqual(lensesOf(task(), gone, 'tree', true), []);
  assert.ok(lensesOf(task(), gone, 'base', false).some((lens) => lens.command === 'understudy.rejectHunks'));
});

test('what is over shows its state and no verdicts', () => {
  const publication = { number: 1, state: 'applied' as const, sentence: '', unsaved: [] };
  const lenses = lensesOf(task({ status: 'ended', next: ['undo'], publication }), fileOf(hunk()), 'tree', true);
  assert.deepEqual(lenses.map((lens) => lens.title), ['$(pass-filled) Applied']);
});

test('a rejected hunk does not look applied', () => {
  const publication = { number: 1, state: 'applied' as const, sentence: '', unsaved: [] };
  const some = task({ status: 'ended', next: ['undo'], publication, hunks: 2, rejected: 1 });
  const lenses = lensesOf(some, fileOf(hunk({ rejected: true }), hunk({ id: 'two' })), 'tree', true);
  assert.deepEqual(lenses.map((lens) => lens.title), ['$(circle-slash) Rejected', '$(pass-filled) Applied: 1 of 2 hunks']);
});
