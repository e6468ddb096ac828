// Where the server's program is: the setting, then the one in the extension, then PATH where the workspace is trusted.

import { constants, accessSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';

export interface Places {
  /** The setting; empty where there is none. */
  setting: string;
  extension: string;
  isTrusted: boolean;
  /** The variable PATH. */
  path: string;
}

export type Found = { program: string } | { problem: string };

const NAME = process.platform === 'win32' ? 'understudy.exe' : 'understudy';

export function findProgram(places: Places): Found {
  const setting = places.setting.trim().replace(/^~(?=\/)/, homedir());
  if (setting !== '') {
    if (!isAbsolute(setting)) return { problem: `The setting understudy.path is not an absolute path: ${setting}` };
    if (!isProgram(setting)) return { problem: `The setting understudy.path names no program: ${setting}` };
    return { program: setting };
  }
  const bundled = join(places.extension, 'bin', NAME);
  if (isProgram(bundled)) return { program: bundled };
  // A workspace can put itself on PATH, for instance as a relative entry, so PATH is not asked before it is trusted.
  const folders = places.isTrusted ? places.path.split(delimiter).filter((folder) => isAbsolute(folder)) : [];
  const program = folders.map((folder) => join(folder, NAME)).find(isProgram);
  if (program !== undefined) return { program };
  return { problem: 'The program understudy was not found. Put it on PATH or set understudy.path.' };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
