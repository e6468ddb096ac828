// Pages and answers made of what a server or a model said.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerPage, collect, faultOf } from '../src/answers';
import type { ModelBlock } from '../src/protocol';

test('an answer links each citation to its lines, and no text ends its fence', () => {
  const page = answerPage('Where?\n', {
    text: 'There.', model: 'm', unfounded: ['no such file: x'],
    citations: [{ path: 'a.md', first_line: 3, last_line: 4, text: '```\nx\n```\n', uri: 'file:///w/a.md' }],
  });
  assert.match(page, /^# Where\?\n\nThere\.\n/);
  assert.match(page, /\[a\.md:3-4\]\(file:\/\/\/w\/a\.md#L3\)\n\n````\n```\nx\n```\n````/);
  assert.match(page, /\* not founded: no such file: x/);
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
