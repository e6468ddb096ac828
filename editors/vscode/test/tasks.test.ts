// The store of tasks, and the reports of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Report } from '../src/protocol';
import { Reports } from '../src/reports';
import { Tasks } from '../src/tasks';
import { hunk, task } from './made';

test('an older line never replaces a newer one', () => {
  const tasks = new Tasks();
  assert.ok(tasks.update(task({ revision: 5, title: 'new' })));
  assert.ok(!tasks.update(task({ revision: 4, title: 'old' })));
  assert.equal(tasks.get('k3x9')?.title, 'new');
});

test('the newest task stands first, whether listed or announced', () => {
  const tasks = new Tasks();
  tasks.replace([task({ id: 'second' }), task({ id: 'first' })]);
  tasks.update(task({ id: 'third' }));
  assert.deepEqual(tasks.all().map((line) => line.id), ['third', 'second', 'first']);
});

const report = (...ids: string[]): Report => ({
  verdict: 'verified', reasons: [], base: null, tree: null, hunks: ids.map((id) => hunk({ id })), checks: [], limitations: [],
});

test('a report is fetched once for each state of a task', async () => {
  const asked: (string | undefined)[] = [];
  const reports = new Reports((_, { tree }) => {
    asked.push(tree);
    return Promise.resolve(tree === 'kept' ? report('two') : report('one', 'two'));
  });
  await reports.of(task({ tree: 'whole', kept_tree: 'whole' }));
  await reports.of(task({ tree: 'whole', kept_tree: 'whole', revision: 9 }));
  assert.deepEqual(asked, ['whole']);
  const reviewed = await reports.of(task({ tree: 'whole', kept_tree: 'kept', rejected: 1 }));
  assert.deepEqual(asked, ['whole', 'whole', 'kept']);
  assert.deepEqual(reviewed?.hunks.map((one) => one.rejected), [true, false]);
});

test('everything may be rejected', async () => {
  const reports = new Reports(() => Promise.resolve(report('one', 'two')));
  const reviewed = await reports.of(task({ rejected: 2, hunks: 2, kept_tree: null }));
  assert.deepEqual(reviewed?.hunks.map((one) => one.rejected), [true, true]);
});

test('a report that could not be had is asked for again', async () => {
  let tries = 0;
  const reports = new Reports(() => {
    tries += 1;
    return tries === 1 ? Promise.reject(new Error('no server')) : Promise.resolve(report('one'));
  });
  assert.equal(await reports.of(task()), undefined);
  assert.equal((await reports.of(task()))?.hunks.length, 1);
});
