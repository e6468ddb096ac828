// The manifest: only stable menus, and every command with a title, a handler and a place in the palette or none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import manifest from '../package.json';
import { INNER, PALETTE } from '../src/names';
import { serverCommand } from '../src/protocol';

/** Menus of the stable API. `diffEditor/gutter/*`, `multiDiffEditor/*`, `editor/content` and others work in no published extension. */
const STABLE_MENUS = ['commandPalette', 'editor/context', 'editor/title', 'view/item/context', 'view/title'];

const commands = manifest.contributes.commands;
const ids = commands.map((command) => command.command).sort();

test('every menu belongs to the stable API', () => {
  assert.deepEqual(Object.keys(manifest.contributes.menus).filter((menu) => !STABLE_MENUS.includes(menu)), []);
  assert.ok(!('enabledApiProposals' in manifest));
});

test('every command has a title and a handler', () => {
  assert.deepEqual(ids, [...PALETTE, ...INNER].sort());
  for (const command of commands) {
    assert.ok(command.title.length > 0);
    assert.equal(command.category, 'Understudy');
  }
});

test('no command has an id of the server', () => {
  const taken: string[] = Object.values(serverCommand);
  assert.deepEqual(ids.filter((id) => taken.includes(id)), []);
});

test('commands about something shown are not in the palette', () => {
  const hidden = manifest.contributes.menus.commandPalette.filter(({ when }) => when === 'false');
  assert.deepEqual(hidden.map(({ command }) => command).sort(), [...INNER].sort());
});

test('every menu entry names a command that exists', () => {
  const named = Object.values(manifest.contributes.menus).flat().map(({ command }) => command);
  assert.deepEqual(named.filter((id) => !ids.includes(id)), []);
});

test('the program cannot be named by a workspace', () => {
  assert.equal(manifest.contributes.configuration.properties['understudy.path'].scope, 'machine');
  assert.equal(manifest.capabilities.untrustedWorkspaces.supported, 'limited');
});
