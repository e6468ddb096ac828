// What is spoken with the server: the names and shapes of server/lsp/protocol.md that this client uses.

/** The version of the protocol that this client knows. */
export const PROTOCOL = 1;

export type Status = 'waiting' | 'running' | 'checking' | 'publishing' | 'needs you' | 'review' | 'ended' | 'interrupted';
export type Action = 'cancel' | 'resume' | 'answer' | 'approve_plan' | 'steer' | 'raise' | 'again' | 'apply' | 'undo';

export interface Question {
  text: string;
  options: string[];
  why?: string;
}

export interface Step {
  id: string;
  title: string;
  status: 'pending' | 'running' | 'done' | 'stale' | 'failed';
}

/** What a task of a model used or has reserved, and its limits. Dollars are in millionths, null where nothing has a price. */
export interface Usage {
  tokens: number;
  microdollars: number | null;
  max_tokens: number | null;
  max_microdollars: number | null;
  attempts: number;
  max_attempts: number;
}

export interface Publication {
  number: number;
  state: 'applied' | 'partial' | 'refused' | 'diverged' | 'undone';
  sentence: string;
  unsaved: string[];
}

/** Everything a list or a status line says about one task. */
export interface TaskLine {
  id: string;
  folder: string;
  title: string;
  source: string;
  engine: string;
  status: Status;
  doing: string;
  done: number;
  total: number;
  /** The word of the report; null while there is none. */
  verdict: string | null;
  sentence: string;
  /** Goes with every call that changes the task; it grows when what a reviewer acts on changes, not with progress. */
  revision: number;
  base: string | null;
  /** The proposal as a whole. */
  tree: string | null;
  /** The proposal without what was rejected. */
  kept_tree: string | null;
  /** null while what is kept has not been checked. */
  kept_verdict: 'verified' | 'not verified' | null;
  hunks: number;
  rejected: number;
  files: number;
  insertions: number;
  deletions: number;
  /** Of a task that has ended with it: each option is the text of a new task. */
  question: Question | null;
  waiting_for: 'answers' | 'plan' | 'provider' | null;
  /** Names what is asked; an answer to something else is refused. */
  asked: string | null;
  /** Of a task that waits: all of them are to be answered. */
  questions: Question[];
  plan: { version: number; steps: Step[] } | null;
  usage: Usage | null;
  publication: Publication | null;
  next: Action[];
}

export interface Outcome {
  outcome: 'applied' | 'already there' | 'partial' | 'diverged' | 'moved' | 'refused';
  sentence: string;
  unsaved: string[];
  task: TaskLine;
}

export type HunkKind = 'text' | 'create' | 'delete' | 'move' | 'mode' | 'symlink' | 'binary';

/** One hunk of a report. Lines count from 1; a side with 0 lines stands before the line it names. */
export interface Hunk {
  id: string;
  kind: HunkKind;
  path: string;
  old_path: string;
  base_start: number;
  base_lines: number;
  new_start: number;
  new_lines: number;
  risks: string[];
  needs_consent: boolean;
  rejected: boolean;
}

export interface Failure {
  id: { package: string; target: string; path: string };
  at?: [string, number] | null;
  excerpt: string;
}

export interface Check {
  check: string;
  verdict: string;
  reason: string | null;
  passed: number;
  new_failures: Failure[];
  known_failures: Failure[];
  vanished: { package: string; target: string; path: string }[];
}

export interface Limitation {
  path?: string | null;
  line?: number | null;
  text: string;
}

/** The parts of `understudy.task.get` that are shown. */
export interface Report {
  verdict: string;
  reasons: string[];
  base: string | null;
  tree: string | null;
  hunks: Hunk[];
  checks: Check[];
  limitations: Limitation[];
}

/** The answer to `understudy.explain`. */
export interface Explanation {
  text: string;
  citations: { path: string; first_line: number; last_line: number; text: string; uri: string | null }[];
  unfounded: string[];
  model: string;
}

/** `understudy/model`: a call to a model that this editor lends. */
export interface ModelCall {
  id: number;
  system: string;
  tools: { name: string; description: string; parameters: object }[];
  messages: { role: 'user' | 'assistant'; blocks: ModelBlock[] }[];
  max_output: number;
}

export type ModelBlock =
  | { kind: 'text'; text: string }
  | { kind: 'tool_call'; id: string; name: string; arguments: object }
  | { kind: 'tool_result'; id: string; text: string; failed: boolean };

export interface ModelAnswer {
  blocks?: ModelBlock[];
  model?: string;
  fault?: { sentence: string; kind: 'passing' | 'overflow' | 'refused'; sent: boolean };
}

/** One file of a tree of a task: the answer to `understudy/document`. */
export interface TreeDocument {
  text: string | null;
  binary: boolean;
}

/** A call came with an older revision than the task has. */
export const CONTENT_MODIFIED = -32801;
/** A call was refused, or not understood, with the reason. */
export const REQUEST_FAILED = -32803;
export const INVALID_PARAMS = -32602;

export const method = {
  taskChanged: 'understudy/taskChanged',
  save: 'understudy/save',
  document: 'understudy/document',
  models: 'understudy/models',
  model: 'understudy/model',
  modelText: 'understudy/modelText',
  modelOver: 'understudy/modelOver',
} as const;

/** Commands of the server. The language client registers these ids itself, so those of the extension differ. */
export const serverCommand = {
  create: 'understudy.task.create',
  list: 'understudy.task.list',
  get: 'understudy.task.get',
  resume: 'understudy.task.resume',
  cancel: 'understudy.task.cancel',
  forget: 'understudy.task.purge',
  again: 'understudy.task.again',
  answer: 'understudy.task.answer',
  steer: 'understudy.task.steer',
  raise: 'understudy.task.raise',
  openPlan: 'understudy.plan.open',
  approvePlan: 'understudy.plan.approve',
  explain: 'understudy.explain',
  reject: 'understudy.hunk.reject',
  keep: 'understudy.hunk.keep',
  check: 'understudy.check.run',
  checkAgain: 'understudy.check.again',
  receipt: 'understudy.check.receipt',
  compare: 'understudy.check.compare',
  review: 'understudy.review.open',
  apply: 'understudy.apply',
  undo: 'understudy.undo',
  doctor: 'understudy.doctor',
} as const;
export type ServerCommand = (typeof serverCommand)[keyof typeof serverCommand];
