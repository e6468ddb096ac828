// What the developer is asked before a tree is written, decided from what is known about it.

import { short } from './addresses';
import type { TaskLine } from './protocol';
import { extent } from './words';

/** A question that has to be answered with `button` before the call is made, and what the call then says. */
export interface Approval {
  tree: string;
  /** undefined where the tree is verified and touches nothing that acts by itself: choosing Apply was the approval. */
  question: { message: string; detail: string; button: string } | undefined;
  unverified: boolean;
  consent: string[];
}

/** `consent` are the files of the kept hunks that act by themselves; undefined where there is nothing to apply. */
export function approval(task: TaskLine, consent: string[], reasons: readonly string[]): Approval | undefined {
  const tree = task.kept_tree;
  if (tree === null || task.hunks - task.rejected < 1) return undefined;
  const unverified = task.kept_verdict !== 'verified';
  if (!unverified && consent.length === 0) return { tree, question: undefined, unverified, consent };
  const lines = [`${task.title}: ${extent(task)}`, `Tree ${tree}`];
  if (task.kept_verdict === null) lines.push('What is kept has not been checked.');
  else if (unverified) lines.push('The checks do not vouch for this change.', ...reasons);
  if (consent.length > 0) {
    lines.push('These files act by themselves (builds, editors, CI, agents) and need your consent:');
    lines.push(...consent.map((path) => `  ${path}`));
  }
  const state = unverified ? 'This tree is not verified.' : 'This tree is verified, and needs consent.';
  const button = unverified ? `Apply ${short(tree)} Unverified` : `Consent and Apply ${short(tree)}`;
  return { tree, question: { message: `${state} Apply it?`, detail: lines.join('\n'), button }, unverified, consent };
}
