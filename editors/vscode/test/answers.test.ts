// Pages and answers made of what a server or a model said.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerPage, collect, faultOf } from '../src/answers';
import type { ModelBlock } from '../src/protocol';

test('an answer links each citation to its lines, and no text ends its fence', () => {
  const page = answerPage('Where?\n', {
    text: 'There.', model: 'm', unfounded: ['no such file: x'],
    citations: [{ path: 'a.md', first_line: 3, last_line: 4, text: '```\nx\n```\n', uri: 'file:///w/a.md' }],
  }, 'file:///w');
  assert.match(page, /^# Where\?\n\nThere\.\n/);
  assert.match(page, /\[`a\.md:3-4`\]\(\/a\.md#L3\)\n\n````\n```\nx\n```\n````/);
  assert.match(page, /\* not founded: no such file: x/);
});

test('links are such that the preview follows them, wherever the file lies', () => {
  const linkOf = (path: string, uri: string | null, root: string | undefined) => {
    const page = answerPage('?', { text: '', model: 'm', unfounded: [], citations: [{ path, first_line: 1, last_line: 2, text: 'x', uri }] }, root);
    return page.split('\n\n')[1];
  };
  assert.equal(linkOf('src/__a__ (b).md', 'file:///w/x%20y/src/__a__%20(b).md', 'file:///w/x%20y'), '[`src/__a__ (b).md:1-2`](/src/__a__%20%28b%29.md#L1)');
  assert.equal(linkOf('a.md', 'file:///w/a.md', 'file:///w/crates/one'), '[`a.md:1-2`](/../../a.md#L1)');
  assert.equal(linkOf('a`b', null, 'file:///w'), '``a`b:1-2``');
  assert.equal(linkOf('a', 'file:///w/a', undefined), '`a:1-2`');
});

test('what a model says keeps its order, and texts that follow each other are one', () => {
  const blocks: ModelBlock[] = [];
  const call = { kind: 'tool_call' as const, id: '1', name: 'read', arguments: {} };
  for (const next of [{ kind: 'text' as const, text: 'a' }, { kind: 'text' as const, text: 'b' }, call, { kind: 'text' as const, text: 'c' }]) collect(blocks, next);
  assert.deepEqual(blocks, [{ kind: 'text', text: 'ab' }, call, { kind: 'text', text: 'c' }]);
});

test('only a refusal before the call is free', () => {
  const coded = (code: string) => Object.assign(new Error('no'), { code });
  assert.deepEqual([faultOf(coded('NoPermissions')).sent, faultOf(coded('Blocked')).sent], [false, true]);
  assert.deepEqual([faultOf(new Error('message exceeds token limit')).kind, faultOf('gone').kind], ['overflow', 'passing']);
});
