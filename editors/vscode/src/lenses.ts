// What stands above the hunks of a diff: the words and the commands of the code lenses.

import { short } from './addresses';
import { type FileDiff, type Judged, describe, lineOf, tally } from './hunks';
import type { TaskLine } from './protocol';
import { keptLabel } from './words';

/** A lens before an editor's types are put on it. */
export interface Lens {
  line: number;
  title: string;
  tooltip?: string;
  command?: 'understudy.keepHunks' | 'understudy.rejectHunks' | 'understudy.applyTask';
  arguments?: unknown[];
}

const ids = (hunks: readonly Judged[]): string[] => hunks.map((hunk) => hunk.id);

/** Lenses of one file of a proposal, seen from one of its sides. Only the side that has text carries them. */
export function lensesOf(task: TaskLine, file: FileDiff, side: 'base' | 'tree', isFirst: boolean): Lens[] {
  if (task.tree === null || (side === 'base' ? file.inTree : !file.inTree)) return [];
  const inReview = task.next.includes('apply') || task.status === 'checking' || task.status === 'review';
  const lenses: Lens[] = [];
  if (isFirst) lenses.push(...taskLenses(task, inReview));
  if (!inReview) return lenses;
  if (file.hunks.length > 1) lenses.push(...fileLenses(task, task.tree, file));
  for (const hunk of file.hunks) lenses.push(...hunkLenses(task, task.tree, hunk, side));
  return lenses;
}

function taskLenses(task: TaskLine, inReview: boolean): Lens[] {
  const lenses: Lens[] = [{ line: 0, title: keptLabel(task), tooltip: task.sentence }];
  if (inReview && task.kept_tree !== null && task.next.includes('apply')) {
    const title = `$(check-all) Apply ${short(task.kept_tree)}`;
    lenses.push({ line: 0, title, command: 'understudy.applyTask', arguments: [{ task: task.id }] });
  }
  return lenses;
}

function fileLenses(task: TaskLine, tree: string, file: FileDiff): Lens[] {
  const kept = file.hunks.filter((hunk) => !hunk.rejected);
  const rejected = file.hunks.filter((hunk) => hunk.rejected);
  const lenses: Lens[] = [{ line: 0, title: tally(file.hunks) }];
  if (kept.length > 0) {
    const change = { task: task.id, tree, hunks: ids(kept) };
    lenses.push({ line: 0, title: 'Reject file', command: 'understudy.rejectHunks', arguments: [change] });
  }
  if (rejected.length > 0) {
    const change = { task: task.id, tree, hunks: ids(rejected) };
    lenses.push({ line: 0, title: 'Keep file', command: 'understudy.keepHunks', arguments: [change] });
  }
  return lenses;
}

function hunkLenses(task: TaskLine, tree: string, hunk: Judged, side: 'base' | 'tree'): Lens[] {
  const line = lineOf(hunk, side);
  const change = { task: task.id, tree, hunks: [hunk.id] };
  const tooltip = [describe(hunk), ...hunk.risks.map((risk) => risk.replaceAll('_', ' '))].join(', ');
  if (hunk.rejected) {
    return [
      { line, title: '$(circle-slash) Hunk rejected', tooltip },
      { line, title: 'Undo reject', tooltip, command: 'understudy.keepHunks', arguments: [change] },
    ];
  }
  return [
    { line, title: '$(check) Hunk kept', tooltip },
    { line, title: '$(x) Reject hunk', tooltip, command: 'understudy.rejectHunks', arguments: [change] },
  ];
}
