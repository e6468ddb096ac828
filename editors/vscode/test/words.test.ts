// Words for states, and the message at the end of a run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finished, look, published } from '../src/words';
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
