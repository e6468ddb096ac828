// Reports of tasks with the verdicts put on their hunks, fetched when what they speak of has changed.

import type { Reviewed } from './nodes';
import { judge } from './hunks';
import { type Hunk, type Report, type TaskLine, serverCommand } from './protocol';

export type Fetch = (command: typeof serverCommand.get, argument: { task: string; tree?: string }) => Promise<Report>;

/** What a report depends on: as long as it is the same, so is the report. */
function stateOf(task: TaskLine): string {
  return [task.tree, task.kept_tree, task.kept_verdict, task.verdict, task.rejected].join(' ');
}

interface Entry {
  state: string;
  reviewed: Promise<Reviewed | undefined>;
}

export class Reports {
  readonly #fetch: Fetch;
  readonly #entries = new Map<string, Entry>();

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** The report of a task as it stands; undefined where there is none yet, or the server cannot be asked. */
  async of(task: TaskLine): Promise<Reviewed | undefined> {
    const state = stateOf(task);
    const known = this.#entries.get(task.id);
    if (known?.state === state) return known.reviewed;
    const reviewed = this.#ask(task).catch(() => {
      // The next one who asks tries again.
      if (this.#entries.get(task.id)?.state === state) this.#entries.delete(task.id);
      return undefined;
    });
    this.#entries.set(task.id, { state, reviewed });
    return reviewed;
  }

  async #ask(task: TaskLine): Promise<Reviewed | undefined> {
    if (task.tree === null) {
      const { reasons, checks, limitations } = await this.#fetch(serverCommand.get, { task: task.id });
      return { hunks: [], reasons, checks, limitations };
    }
    const proposal = await this.#fetch(serverCommand.get, { task: task.id, tree: task.tree });
    const kept = await this.#kept(task, proposal);
    const { reasons, checks, limitations } = kept ?? proposal;
    return { hunks: judge(proposal.hunks, keptHunks(task, kept ?? proposal)), reasons, checks, limitations };
  }

  async #kept(task: TaskLine, proposal: Report): Promise<Report | undefined> {
    if (task.rejected === 0 || task.kept_tree === null) return undefined;
    if (task.kept_tree === task.tree) return proposal;
    return this.#fetch(serverCommand.get, { task: task.id, tree: task.kept_tree });
  }
}

/** Nothing at all may be kept; then there is no report that says so. */
function keptHunks(task: TaskLine, kept: Report): Hunk[] {
  return task.rejected > 0 && task.rejected === task.hunks ? [] : kept.hunks;
}
