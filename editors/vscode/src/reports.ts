// Reports of tasks, fetched when what they speak of has changed.

import type { Reviewed } from './nodes';
import { type Report, type TaskLine, serverCommand } from './protocol';

export type Fetch = (command: typeof serverCommand.get, argument: { task: string; tree?: string }) => Promise<Report>;

/** What a report depends on: as long as it is the same, so is the report. */
function stateOf(task: TaskLine): string {
  return [task.revision, task.tree, task.kept_tree, task.kept_verdict, task.verdict].join(' ');
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

  async #ask(task: TaskLine): Promise<Reviewed> {
    const whole = await this.#fetch(serverCommand.get, { task: task.id, ...(task.tree !== null && { tree: task.tree }) });
    const { reasons, checks, limitations } = await this.#kept(task, whole);
    return { hunks: task.tree === null ? [] : whole.hunks, reasons, checks, limitations };
  }

  /** What the evidence says about what is kept; nothing where it has not been checked. */
  async #kept(task: TaskLine, whole: Report): Promise<Pick<Report, 'reasons' | 'checks' | 'limitations'>> {
    if (task.kept_tree === null || task.kept_tree === task.tree) return whole;
    if (task.kept_verdict === null) return { reasons: [], checks: [], limitations: [] };
    return this.#fetch(serverCommand.get, { task: task.id, tree: task.kept_tree });
  }
}
