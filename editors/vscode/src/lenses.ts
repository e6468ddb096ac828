// What stands above the hunks of a diff: the words and the commands of the code lenses.

import { short } from './addresses';
import { type FileDiff, describe, lineOf, tally } from './hunks';
import type { Hunk, TaskLine } from './protocol';
import { keptLabel, takesVerdicts, wantsCheck } from './words';

/** A lens before an editor's types are put on it. */
export interface Lens {
  line: number;
  title: string;
  tooltip?: string;
  command?: 'understudy.keepHunks' | 'understudy.rejectHunks' | 'understudy.applyTask' | 'understudy.checkKept';
  arguments?: unknown[];
}

const REJECTED = '$(circle-slash) Rejected';

const ids = (hunks: readonly Hunk[]): string[] => hunks.map((hunk) => hunk.id);

/**
 * Lenses of one file of a proposal, seen from one of its sides. Only the side that has text carries them. What is about the
 * whole file or task stands at the first hunk: a diff hides the lines above it.
 */
export function lensesOf(task: TaskLine, file: FileDiff, side: 'base' | 'tree', isFirst: boolean): Lens[] {
  const { tree } = task;
  if (tree === null || (side === 'base' ? file.inTree : !file.inTree)) return [];
  const isOpen = takesVerdicts(task);
  const lenses: Lens[] = isOpen
    ? file.hunks.flatMap((hunk) => hunkLenses(task, tree, hunk, side))
    : file.hunks.filter((hunk) => hunk.rejected).map((hunk) => ({ line: lineOf(hunk, side), title: REJECTED, tooltip: describe(hunk) }));
  const [first] = file.hunks;
  const line = first === undefined ? 0 : lineOf(first, side);
  if (isOpen && file.hunks.length > 1) lenses.push(fileLens(task, tree, file, line));
  if (isFirst) lenses.push(taskLens(task, line));
  return lenses;
}

function taskLens(task: TaskLine, line: number): Lens {
  const tooltip = task.sentence;
  if (task.status === 'checking') return { line, title: '$(loading~spin) Checking what is kept', tooltip: task.doing };
  if (wantsCheck(task)) {
    return { line, title: '$(beaker) Check what is kept', tooltip, command: 'understudy.checkKept', arguments: [{ task: task.id }] };
  }
  if (task.kept_tree === null || !task.next.includes('apply')) {
    const some = task.publication?.state === 'applied' && task.rejected > 0;
    const extent = some ? `: ${task.hunks - task.rejected} of ${task.hunks} hunks` : '';
    return { line, title: `${keptLabel(task)}${extent}`, tooltip };
  }
  const title = `$(check-all) Apply ${short(task.kept_tree)}, ${task.kept_verdict ?? 'not checked'}`;
  return { line, title, tooltip, command: 'understudy.applyTask', arguments: [{ task: task.id }] };
}

function fileLens(task: TaskLine, tree: string, file: FileDiff, line: number): Lens {
  const kept = file.hunks.filter((hunk) => !hunk.rejected);
  const tooltip = tally(file.hunks);
  const on = (hunks: Hunk[]) => [{ task: task.id, tree, hunks: ids(hunks) }];
  if (kept.length === 0) return { line, title: 'Keep file', tooltip, command: 'understudy.keepHunks', arguments: on(file.hunks) };
  return { line, title: 'Reject file', tooltip, command: 'understudy.rejectHunks', arguments: on(kept) };
}

function hunkLenses(task: TaskLine, tree: string, hunk: Hunk, side: 'base' | 'tree'): Lens[] {
  const line = lineOf(hunk, side);
  const change = { task: task.id, tree, hunks: [hunk.id] };
  const tooltip = [describe(hunk), ...hunk.risks.map((risk) => risk.replaceAll('_', ' '))].join(', ');
  if (hunk.rejected) {
    return [
      { line, title: REJECTED, tooltip },
      { line, title: 'Undo reject', tooltip, command: 'understudy.keepHunks', arguments: [change] },
    ];
  }
  return [
    { line, title: '$(check) Kept', tooltip },
    { line, title: '$(x) Reject hunk', tooltip, command: 'understudy.rejectHunks', arguments: [change] },
  ];
}
