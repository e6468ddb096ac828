// Which hunks of a proposal are kept, and where each of them stands in the two texts of a diff.

import type { Hunk } from './protocol';

/** One changed file of a proposal, in the order of the report. */
export interface FileDiff {
  path: string;
  oldPath: string;
  hunks: Hunk[];
  /** Whether base has the file, and whether the proposal has. */
  inBase: boolean;
  inTree: boolean;
}

export function byFile(hunks: readonly Hunk[]): FileDiff[] {
  const files = new Map<string, FileDiff>();
  for (const hunk of hunks) {
    const file = files.get(hunk.path) ?? {
      path: hunk.path,
      oldPath: hunk.old_path,
      hunks: [],
      inBase: true,
      inTree: true,
    };
    file.hunks.push(hunk);
    file.inBase &&= hunk.kind !== 'create';
    file.inTree &&= hunk.kind !== 'delete';
    files.set(hunk.path, file);
  }
  return [...files.values()];
}

/** The line, from 0, at which a hunk shows in one of the two texts. Where it has no lines there, the line after the gap. */
export function lineOf(hunk: Hunk, side: 'base' | 'tree'): number {
  const start = side === 'base' ? hunk.base_start : hunk.new_start;
  return Math.max(0, start - 1);
}

/** The hunk at a line, from 0, of one of the two texts; where it has no lines there, the line it stands above. */
export function hunkAt(hunks: readonly Hunk[], line: number, side: 'base' | 'tree'): Hunk | undefined {
  return hunks.find((hunk) => {
    const lines = side === 'base' ? hunk.base_lines : hunk.new_lines;
    const first = lineOf(hunk, side);
    return hunk.kind !== 'text' || (first <= line && line < first + Math.max(1, lines));
  });
}

/** What a hunk does, in a few words. */
export function describe(hunk: Hunk): string {
  switch (hunk.kind) {
    case 'text': {
      const gone = hunk.base_lines;
      const come = hunk.new_lines;
      if (gone === 0) return `line ${hunk.new_start}: +${come}`;
      if (come === 0) return `line ${hunk.base_start}: -${gone}`;
      return `line ${hunk.base_start}: -${gone} +${come}`;
    }
    case 'create':
      return 'created';
    case 'delete':
      return 'deleted';
    case 'move':
      return `moved from ${hunk.old_path}`;
    case 'mode':
      return 'mode changed';
    case 'symlink':
      return 'link changed';
    case 'binary':
      return 'binary change';
  }
}

/** `2 of 3 hunks kept`, or `3 hunks` where nothing was rejected. */
export function tally(hunks: readonly Hunk[]): string {
  const rejected = hunks.filter((hunk) => hunk.rejected).length;
  const all = hunks.length === 1 ? '1 hunk' : `${hunks.length} hunks`;
  return rejected === 0 ? all : `${hunks.length - rejected} of ${all} kept`;
}

/** Files whose change acts by itself and therefore needs a consent of its own. */
export function consents(hunks: readonly Hunk[]): string[] {
  return [...new Set(hunks.filter((hunk) => hunk.needs_consent && !hunk.rejected).map((hunk) => hunk.path))];
}
