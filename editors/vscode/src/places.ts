// Places in files: where the paths of trees begin, and how a task text names a place.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder that the paths of trees are relative to: the repository's, which may lie above the folder that is open. */
export function topOf(folder: string): string {
  for (let top = folder; ; top = dirname(top)) {
    if (existsSync(join(top, '.git'))) return top;
    if (dirname(top) === top) return folder;
  }
}

/**
 * `PATH:LINE:COLUMN` of what stands behind `before` in a line. Editors count lines from 0 and columns in UTF-16 units; a place
 * counts both from 1, and columns in characters.
 */
export function placeOf(path: string, line: number, before: string): string {
  return `${path}:${line + 1}:${Array.from(before).length + 1}`;
}

export function renameTask(symbol: string, at: string, name: string): string {
  return `rename \`${symbol}\` at ${at} to \`${name}\``;
}
