// Makes lines and hunks for tests.
import type { Hunk, TaskLine } from '../src/protocol';

export function task(over: Partial<TaskLine> = {}): TaskLine {
  return {
    id: 'k3x9', folder: '/home/me/app', title: 'fix warnings', source: 'editor', engine: 'compiler', status: 'review',
    doing: '', done: 0, total: 0, verdict: 'verified', sentence: '', revision: 3, base: 'b'.repeat(40), tree: 'a'.repeat(40),
    kept_tree: 'a'.repeat(40), kept_verdict: 'verified', hunks: 2, rejected: 0, files: 1, insertions: 2, deletions: 2,
    question: null, waiting_for: null, asked: null, questions: [], plan: null, usage: null, publication: null, next: ['apply'], ...over,
  };
}

export function hunk(over: Partial<Hunk> = {}): Hunk {
  return {
    id: 'h1', kind: 'text', path: 'src/lib.rs', old_path: 'src/lib.rs', base_start: 4, base_lines: 1, new_start: 4,
    new_lines: 1, risks: [], needs_consent: false, rejected: false, ...over,
  };
}
