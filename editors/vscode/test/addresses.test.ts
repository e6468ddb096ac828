// Addresses of files in trees.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf, pathOf } from '../src/addresses';

test('an address survives being a path', () => {
  for (const path of ['src/lib.rs', 'with space/ü#?%.rs', 'a']) {
    const address = { task: 'k3x9', tree: 'ab12', path };
    assert.deepEqual(addressOf(pathOf(address)), address);
  }
});

test('what is no address is none', () => {
  for (const path of ['', '/', '/k3x9', '/k3x9/ab12', '/k3x9/ab12/', '/k3x9/ab12/a//b', 'k3x9/ab12/a']) {
    assert.equal(addressOf(path), undefined, path);
  }
});
