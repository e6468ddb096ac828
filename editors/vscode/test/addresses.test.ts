// Addresses of files in trees.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf, partsOf, protocolPath } from '../src/addresses';

test('an address survives being a URI', () => {
  for (const path of ['src/lib.rs', 'with space/ü#?%.rs', 'a']) {
    const address = { task: 'k3x9', tree: 'ab12', path };
    assert.deepEqual(addressOf(partsOf(address)), address);
    assert.equal(protocolPath(address), `/k3x9/ab12/${path}`);
  }
});

test('a backslash is doubled in reports, and single in files', () => {
  assert.equal(protocolPath({ task: 'k3x9', tree: 'ab12', path: 'a\\\\b.rs' }), '/k3x9/ab12/a\\b.rs');
});

test('both sides of a file have the same path, so that it does not look renamed', () => {
  const path = 'src/lib.rs';
  assert.equal(partsOf({ task: 'k3x9', tree: 'ab12', path }).path, partsOf({ task: 'k3x9', tree: 'cd34', path }).path);
});

test('what is no address is none', () => {
  for (const path of ['', '/', 'a', '/a//b', '/a/']) assert.equal(addressOf({ path, query: 'k3x9/ab12' }), undefined, path);
  for (const query of ['', 'k3x9', 'k3x9/', '/ab12', 'k3x9/ab12/more']) assert.equal(addressOf({ path: '/a', query }), undefined, query);
});
