// What is asked before a tree is written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approval } from '../src/approval';
import { task } from './made';

test('a verified tree that touches nothing special is approved by choosing Apply', () => {
  const asked = approval(task(), [], []);
  assert.equal(asked?.question, undefined);
  assert.equal(asked?.tree, 'a'.repeat(40));
  assert.equal(asked.unverified, false);
});

test('an unverified tree is asked about, with its name and the reasons', () => {
  const asked = approval(task({ kept_verdict: 'not verified', kept_tree: 'c'.repeat(40) }), [], ['2 tests vanished']);
  assert.equal(asked?.unverified, true);
  assert.match(asked.question?.button ?? '', /cccccccc Unverified/);
  assert.match(asked.question?.detail ?? '', /2 tests vanished/);
});

test('what has not been checked is not verified', () => {
  const asked = approval(task({ kept_verdict: null, status: 'checking' }), [], []);
  assert.equal(asked?.unverified, true);
  assert.match(asked.question?.detail ?? '', /has not been checked/);
});

test('files that act by themselves are named and consented to', () => {
  const asked = approval(task(), ['build.rs'], []);
  assert.deepEqual(asked?.consent, ['build.rs']);
  assert.match(asked.question?.detail ?? '', /build\.rs/);
  assert.match(asked.question?.button ?? '', /^Consent and Apply/);
});

test('nothing kept is nothing to apply', () => {
  assert.equal(approval(task({ rejected: 2 }), [], []), undefined);
  assert.equal(approval(task({ kept_tree: null }), [], []), undefined);
});
