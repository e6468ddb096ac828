// The tasks as the server last described them. Lines are whole and numbered; an older one never replaces a newer one.

import type { TaskLine } from './protocol';

export type Change = { before: TaskLine | undefined; now: TaskLine } | 'all';

export class Tasks {
  readonly #lines = new Map<string, TaskLine>();
  readonly #listeners = new Set<(change: Change) => void>();

  /** Calls back after each change, until the returned function is called. */
  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get(id: string): TaskLine | undefined {
    return this.#lines.get(id);
  }

  /** In the order of the server's list, what came later in front. */
  all(): TaskLine[] {
    return [...this.#lines.values()].reverse();
  }

  /** Takes one line; false where a newer one is known. */
  update(now: TaskLine): boolean {
    const before = this.#lines.get(now.id);
    if (before !== undefined && before.revision > now.revision) return false;
    this.#lines.set(now.id, now);
    this.#tell({ before, now });
    return true;
  }

  /** Takes a whole list, newest first, as the server answers it after its start. */
  replace(lines: readonly TaskLine[]): void {
    const known = new Map(this.#lines);
    this.#lines.clear();
    for (const line of [...lines].reverse()) this.#lines.set(line.id, line);
    this.#tell('all');
    for (const now of lines) {
      const before = known.get(now.id);
      const same = before?.status === now.status && before.waiting_for === now.waiting_for && before.asked === now.asked;
      if (before !== undefined && !same) this.#tell({ before, now });
    }
  }

  remove(id: string): void {
    if (this.#lines.delete(id)) this.#tell('all');
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}
