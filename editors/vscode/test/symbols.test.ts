// The task text of a rename at the cursor.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renameTask } from '../src/symbols';

test('columns count characters from 1', () => {
  const place = { symbol: 'add', path: 'src/lib.rs', line: 2, before: 'let 🦀 = ', name: 'sum' };
  assert.equal(renameTask(place), 'rename add at src/lib.rs:3:9 to sum');
});
