// Places in files.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { placeOf, renameTask, topOf } from '../src/places';

test('places count from 1, and columns in characters', () => {
  assert.equal(placeOf('src/lib.rs', 2, 'let \u{1F980} = '), 'src/lib.rs:3:9');
  assert.equal(placeOf('src/lib.rs', 0, ''), 'src/lib.rs:1:1');
});

test('a rename names the symbol, its place and its new name', () => {
  assert.equal(renameTask('add', 'src/lib.rs:3:9', 'sum'), 'rename `add` at src/lib.rs:3:9 to `sum`');
});

test('paths begin at the repository, or at the folder where there is none', () => {
  const root = mkdtempSync(join(tmpdir(), 'understudy-places-'));
  const nested = join(root, 'repository/crates/app');
  mkdirSync(nested, { recursive: true });
  mkdirSync(join(root, 'repository/.git'));
  assert.equal(topOf(nested), join(root, 'repository'));
  assert.equal(topOf(root), root);
  rmSync(root, { recursive: true });
});
