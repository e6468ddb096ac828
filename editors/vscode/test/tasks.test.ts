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

test('an end that the list brings is told like one that was announced', () => {
  const tasks = new Tasks();
  tasks.replace([task({ status: 'running' })]);
  const told: string[] = [];
  tasks.onChange((change) => told.push(change === 'all' ? 'all' : `${change.before?.status ?? ''} ${change.now.status}`));
  tasks.replace([task({ status: 'review' })]);
  assert.deepEqual(told, ['all', 'running review']);
});

const report = (over: Partial<Report> = {}): Report => ({
  verdict: 'verified', reasons: [], base: null, tree: null, hunks: [hunk()], checks: [], limitations: [], ...over,
});

test('a report is fetched once for each state of a task', async () => {
  let asked = 0;
  const reports = new Reports(() => {
    asked += 1;
    return Promise.resolve(report());
  });
  await reports.of(task({ doing: 'one thing' }));
  await reports.of(task({ doing: 'another' }));
  assert.equal(asked, 1);
  await reports.of(task({ revision: 9 }));
  assert.equal(asked, 2);
});

test('hunks are those of the proposal, evidence is that of what is kept', async () => {
  const reports = new Reports((_, { tree }) =>
    Promise.resolve(tree === 'kept' ? report({ hunks: [], reasons: ['it does not build'] }) : report()),
  );
  const whole = { tree: 'whole', kept_tree: 'kept', rejected: 1 };
  const checked = await reports.of(task({ ...whole, kept_verdict: 'not verified' }));
  assert.deepEqual([checked?.hunks.length, checked?.reasons], [1, ['it does not build']]);
  const unchecked = await reports.of(task({ ...whole, kept_verdict: null }));
  assert.deepEqual([unchecked?.hunks.length, unchecked?.reasons], [1, []]);
});

test('a report that could not be had is asked for again', async () => {
  let tries = 0;
  const reports = new Reports(() => {
    tries += 1;
    return tries === 1 ? Promise.reject(new Error('no server')) : Promise.resolve(report());
  });
  assert.equal(await reports.of(task()), undefined);
  assert.equal((await reports.of(task()))?.hunks.length, 1);
});
