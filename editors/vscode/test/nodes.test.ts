// The task view.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { below, partsOf, show } from '../src/nodes';
import { hunk, task } from './made';

const reviewed = {
  hunks: [hunk({ id: 'one' }), hunk({ id: 'two', rejected: true, risks: ['runs_by_itself'] })],
  reasons: ['1 test vanished'],
  checks: [{
    check: 'cargo test', verdict: 'failed', reason: null, passed: 3, known_failures: [], vanished: [],
    new_failures: [{ id: { package: 'app', target: 'lib', path: 'tests::adds' }, at: ['src/lib.rs', 7] as [string, number], excerpt: 'left 1' }],
  }],
  limitations: [{ path: 'src/lib.rs', line: 3, text: 'a macro body was not seen' }],
};

test('a task lists verdict, reasons, checks, limitations and files', () => {
  const parts = partsOf(task({ sentence: 'all passed' }), reviewed);
  assert.deepEqual(parts.map((part) => part.kind), ['line', 'line', 'check', 'limitation', 'file']);
  assert.deepEqual(parts.map((part) => show(part).label), ['verified', '1 test vanished', 'cargo test', 'src/lib.rs:3', 'src/lib.rs']);
});

test('places that a reason names can be opened, and the sentence of the task is not said twice', () => {
  const reason = '2 warnings remain\n  src/date.rs:6: unexpected `cfg`\nand one elsewhere';
  const [, ...parts] = partsOf(task({ sentence: '2 warnings remain src/date.rs:6: unexpected' }), { ...reviewed, hunks: [], reasons: [reason], checks: [], limitations: [] });
  assert.deepEqual(parts.map((part) => [part.kind, show(part).label]), [['limitation', 'src/date.rs:6'], ['line', 'and one elsewhere']]);
});

test('a check lists its new failures with their places', () => {
  const [, , check] = partsOf(task(), reviewed);
  assert.ok(check);
  assert.deepEqual(below(check).map((node) => [show(node).label, show(node).description]), [['tests::adds', 'src/lib.rs:7']]);
});

test('a check says how many passed, and whether it is the whole', () => {
  const says = (over: object) => partsOf(task(), { ...reviewed, reasons: [], checks: reviewed.checks.map((check) => ({ ...check, ...over })) }).slice(1, 2).map((part) => show(part).description);
  assert.deepEqual([says({}), says({ verdict: 'passed' }), says({ verdict: 'not_run', passed: 0 })], [['failed, 3 passed'], ['3 passed'], ['not run']]);
});

test('a file lists its hunks with verdicts and risks', () => {
  const file = partsOf(task(), reviewed).at(-1);
  assert.ok(file);
  const hunks = below(file).map(show);
  assert.deepEqual(hunks.map(({ context, description }) => [context, description]), [['hunk.kept', 'kept'], ['hunk.rejected', 'rejected, runs by itself']]);
});

test('a task tells menus what may be done with it', () => {
  assert.equal(show({ kind: 'task', task: task() }).context, 'task.apply.review');
  assert.equal(show({ kind: 'task', task: task({ status: 'running', next: ['cancel'], tree: null, hunks: 0 }) }).context, 'task.cancel');
});

test('a question offers its answers', () => {
  const parts = partsOf(task({ question: { text: 'Which one?', options: ['rename `a::b` to `c`'] } }), undefined);
  assert.deepEqual(parts.flatMap((part) => (part.kind === 'line' && part.answer ? [part.answer] : [])), ['rename `a::b` to `c`']);
});

test('a task that waits lists its questions, its plan and what it used', () => {
  const usage = { tokens: 10, microdollars: null, max_tokens: null, max_microdollars: null, attempts: 1, max_attempts: 3 };
  const waiting = { status: 'needs you' as const, verdict: null, hunks: 0, usage };
  const asked = partsOf(task({ ...waiting, next: ['answer'], questions: [{ text: 'Size?', options: ['20', '50'] }] }), undefined);
  assert.deepEqual(asked.flatMap((part) => (part.kind === 'line' && part.answer ? [part.answer] : [])), ['20', '50']);
  const plan = { version: 1, steps: [{ id: '1', title: 'Read the cursor', status: 'stale' as const }] };
  const planned = partsOf(task({ ...waiting, next: ['approve_plan'], plan }), undefined).map((part) => show(part).label);
  assert.equal(show({ kind: 'task', task: task({ ...waiting, next: ['approve_plan'], plan }) }).context, 'task.approve_plan.plan');
  assert.deepEqual(planned.slice(1), ['Read or change the plan', 'Approve the plan', 'Read the cursor', '10 tokens']);
});
