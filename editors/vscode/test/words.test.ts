// Words for states, and the message at the end of a run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dollars, finished, look, published, spending } from '../src/words';
import { task } from './made';

test('each state has its own words', () => {
  assert.equal(look(task({ status: 'running', doing: 'test: 12 of 40' })).text, 'test: 12 of 40');
  assert.equal(look(task({ status: 'interrupted' })).text, 'interrupted, can be resumed');
  assert.equal(look(task()).text, 'verified');
  assert.equal(look(task({ kept_verdict: null })).text, 'not checked');
  assert.equal(look(task({ status: 'ended', verdict: 'nothing to do', hunks: 0 })).text, 'nothing to do');
  const publication = { number: 1, state: 'applied' as const, sentence: '', unsaved: [] };
  assert.equal(look(task({ status: 'ended', publication })).text, 'applied');
});

test('no result never looks like a pass', () => {
  for (const verdict of ['not verified', 'stopped', 'infrastructure', null]) {
    assert.equal(look(task({ status: 'ended', verdict, kept_verdict: null, hunks: 0 })).colour, 'bad');
  }
});

test('the end of a run is said once', () => {
  const running = task({ status: 'running', verdict: null });
  assert.equal(finished(running, task()), 'fix warnings: verified, 2 hunks, 1 file, +2 -2');
  assert.match(finished(running, task({ verdict: 'stopped', sentence: 'no way forward' })) ?? '', /no way forward/);
  assert.equal(finished(task(), task()), undefined);
  assert.equal(finished(task({ status: 'checking' }), task()), undefined);
  assert.equal(finished(running, running), undefined);
});

test('an outcome names what stayed unsaved', () => {
  const outcome = { outcome: 'applied' as const, sentence: 'written', unsaved: ['src/lib.rs'], task: task() };
  assert.deepEqual(published('apply', outcome), { text: 'fix warnings: Applied. Written. Not saved: src/lib.rs.', isBad: false });
  assert.match(published('undo', outcome).text, /^fix warnings: Undone/);
  assert.ok(published('undo', { ...outcome, outcome: 'diverged' }).isBad);
});

test('a task of a model says how far it is and what it used', () => {
  const usage = { tokens: 41200, microdollars: 93000, max_tokens: 1_000_000, max_microdollars: 500_000, attempts: 1, max_attempts: 3 };
  const steps = [{ id: '1', title: 'a', status: 'done' as const }, { id: '2', title: 'b', status: 'running' as const }];
  assert.equal(spending(task({ usage, plan: { version: 1, steps } })), '1 of 2 steps · $0.093 of $0.50 · 41,200 of 1,000,000 tokens');
  assert.equal(spending(task({ usage: { ...usage, microdollars: null, max_tokens: null } })), '41,200 tokens');
  assert.equal(spending(task()), '');
  assert.deepEqual([dollars(1_234_567), dollars(10), dollars(2_000_000)], ['$1.2346', '$0.0001', '$2.00']);
});

test('a task that needs the developer says for what', () => {
  const asks = task({ status: 'needs you', verdict: null, waiting_for: 'answers', hunks: 0 });
  assert.equal(look(asks).text, 'asks you something');
  const running = task({ status: 'running', verdict: null });
  assert.equal(finished(running, asks), 'fix warnings: asks you something');
  const waits = task({ status: 'needs you', waiting_for: 'plan' });
  assert.match(finished(asks, waits) ?? '', /waits for your yes/, 'what it did between the two was too short to be seen');
  assert.equal(finished(asks, asks), undefined);
  const [one, two] = [{ text: 'Which?', options: [] }, { text: 'How?', options: [] }];
  assert.equal(finished(running, { ...asks, questions: [one] }), 'fix warnings: asks you: Which?');
  assert.equal(finished(running, { ...asks, questions: [one, two] }), 'fix warnings: asks you 2 questions');
  assert.match(look(task({ status: 'needs you', waiting_for: 'plan' })).text, /plan/);
  assert.match(look(task({ status: 'interrupted', waiting_for: 'provider' })).text, /waits for its model/);
});

test('a task that was answered and has not gone on yet is not told of as interrupted, and what it wants next is', () => {
  const answered = task({ status: 'interrupted', verdict: null });
  assert.equal(finished(task({ status: 'needs you', waiting_for: 'answers', asked: 'a' }), answered), undefined);
  assert.match(finished(answered, task({ status: 'needs you', waiting_for: 'plan', asked: 'b' })) ?? '', /waits for your yes/);
  assert.match(finished(answered, task({ status: 'interrupted', waiting_for: 'provider' })) ?? '', /waits for its model/);
  assert.match(finished(answered, task({ status: 'ended', verdict: 'stopped' })) ?? '', /stopped/);
  assert.equal(finished(answered, task({ status: 'running' })), undefined);
  assert.equal(finished(answered, answered), undefined);
  assert.match(finished(task({ status: 'running' }), answered) ?? '', /interrupted/, 'where it ran, it is');
});
