// The words and icons for the state of a task, the same in the view, the status bar, the lenses and the messages.

import { short } from './addresses';
import { iconless } from './plain';
import type { Outcome, TaskLine } from './protocol';

export type Colour = 'good' | 'bad' | 'waiting' | 'plain';

export interface Look {
  /** The name of a product icon. */
  icon: string;
  colour: Colour;
  text: string;
}

/** Whether a process works on the task now. */
export function isBusy(task: TaskLine): boolean {
  return ['waiting', 'running', 'checking', 'publishing'].includes(task.status);
}

/** Whether a diff of the task waits for the developer. */
export function awaitsReview(task: TaskLine): boolean {
  return task.hunks > 0 && (task.status === 'review' || task.status === 'checking');
}

/**
 * Whether hunks can be kept and rejected. A proved change that stands in the files already has nothing to apply until one of
 * its hunks is rejected, which takes it out of the files.
 */
export function takesVerdicts(task: TaskLine): boolean {
  const isProof = task.status === 'ended' && task.engine === 'patch' && task.publication === null;
  return hasDiff(task) && (isProof || awaitsReview(task));
}

/** Whether what is kept waits for a check that nobody has begun: one that was cancelled or failed is not begun again by itself. */
export function wantsCheck(task: TaskLine): boolean {
  return takesVerdicts(task) && task.status === 'review' && task.kept_verdict === null && task.kept_tree !== null;
}

/** Whether there is a diff to look at, decided or not. */
export function hasDiff(task: TaskLine): boolean {
  return task.base !== null && task.tree !== null && task.hunks > 0;
}

/** State of a task in a few words. */
export function look(task: TaskLine): Look {
  switch (task.status) {
    case 'waiting':
      return { icon: 'watch', colour: 'plain', text: 'waiting for another task' };
    case 'running':
    case 'checking':
    case 'publishing':
      return { icon: 'loading~spin', colour: 'waiting', text: task.doing === '' ? task.status : task.doing };
    case 'needs you':
      return { icon: 'question', colour: 'waiting', text: task.waiting_for === 'plan' ? 'waits for your yes to its plan' : 'asks you something' };
    case 'interrupted':
      if (task.waiting_for === 'provider') return { icon: 'debug-disconnect', colour: 'bad', text: 'waits for its model, can be resumed' };
      return { icon: 'debug-disconnect', colour: 'bad', text: 'interrupted, can be resumed' };
    case 'review':
    case 'ended':
      return ended(task);
  }
}

function ended(task: TaskLine): Look {
  switch (task.publication?.state) {
    case 'applied':
      return { icon: 'pass-filled', colour: 'good', text: 'applied' };
    case 'partial':
      return { icon: 'warning', colour: 'bad', text: 'applied in part' };
    case 'diverged':
      return { icon: 'git-merge', colour: 'bad', text: 'diverged, nothing written' };
    default:
  }
  return verdictLook(task);
}

/** The verdict alone, whatever became of it. */
export function verdictLook(task: TaskLine): Look {
  const word = awaitsReview(task) ? (task.kept_verdict ?? 'not checked') : (task.verdict ?? 'no result');
  if (word === 'verified' || word === 'nothing to do') return { icon: 'pass', colour: 'good', text: word };
  if (word === 'needs an answer') return { icon: 'question', colour: 'waiting', text: word };
  if (word === 'cancelled') return { icon: 'circle-slash', colour: 'plain', text: word };
  return { icon: 'warning', colour: 'bad', text: word };
}

/** `k3x9 · 3 of 4 hunks · 2 files`: what stands behind the title of a task. */
export function extent(task: TaskLine): string {
  if (task.hunks === 0) return '';
  const hunks = task.rejected > 0 ? `${task.hunks - task.rejected} of ${task.hunks} hunks` : plural(task.hunks, 'hunk');
  return `${hunks}, ${plural(task.files, 'file')}, +${task.insertions} -${task.deletions}`;
}

/** `step 2 of 5 · $0.093 of $0.50 · 41,200 of 1,000,000 tokens`: how far a task of a model is, and what it used. */
export function spending(task: TaskLine): string {
  const parts: string[] = [];
  if (task.plan !== null && task.plan.steps.length > 1) {
    const done = task.plan.steps.filter((step) => step.status === 'done').length;
    parts.push(`${done} of ${plural(task.plan.steps.length, 'step')}`);
  }
  if (task.usage !== null) {
    const { tokens, microdollars, max_tokens, max_microdollars } = task.usage;
    if (microdollars !== null) parts.push(microdollars === 0 && max_microdollars === null ? '$0' : of(dollars(microdollars), max_microdollars, dollars));
    parts.push(`${of(count(tokens), max_tokens, count)} tokens`);
  }
  return parts.join(' · ');
}

function of(used: string, max: number | null, show: (value: number) => string): string {
  return max === null ? used : `${used} of ${show(max)}`;
}

const count = (value: number) => value.toLocaleString('en-US');

/** `$0.50`, with as many digits as small amounts need, at most four. */
export function dollars(microdollars: number): string {
  const exact = (Math.ceil(microdollars / 100) / 10_000).toFixed(4);
  return `$${exact.replace(/0{1,2}$/, '')}`;
}

/** Verdict of what is kept, with its icon. */
export function keptLabel(task: TaskLine): string {
  const tree = task.kept_tree === null ? '' : ` ${short(task.kept_tree)}`;
  if (task.publication?.state === 'applied') return '$(pass-filled) Applied';
  if (task.kept_verdict === 'verified') return `$(pass) Verified${tree}`;
  if (task.kept_verdict === 'not verified') return `$(warning) Not verified${tree}`;
  if (isBusy(task)) return `$(loading~spin) ${task.doing === '' ? 'Checking what is kept' : iconless(task.doing)}`;
  return '$(circle-outline) What is kept is not checked';
}

/** What the developer is asked, in one line for a message. */
function asks(task: TaskLine): string {
  const [only, ...others] = task.questions;
  if (task.waiting_for !== 'answers' || only === undefined) return look(task).text;
  return others.length === 0 ? `asks you: ${only.text}` : `asks you ${task.questions.length} questions`;
}

/**
 * One line for the end of a run; undefined where nobody has to know. Between two things that a task waits for it may run for
 * less than the time in which it is spoken of. Right after an answer, and before the task goes on, nobody works on it: it is
 * called interrupted then, which is no news, and whatever follows is.
 */
export function finished(before: TaskLine, now: TaskLine): string | undefined {
  const ran = before.status === 'running' || before.status === 'waiting';
  const stood = before.status === 'needs you' || before.status === 'interrupted';
  const isElse = before.status !== now.status || before.waiting_for !== now.waiting_for || before.asked !== now.asked;
  const goesOn = before.status === 'needs you' && now.status === 'interrupted' && now.waiting_for === null;
  if (!(ran || (stood && isElse)) || goesOn || isBusy(now)) return undefined;
  if (now.status === 'needs you') return `${now.title}: ${asks(now)}`;
  if (now.status === 'interrupted') return `${now.title}: ${look(now).text}`;
  const found = extent(now);
  const more = now.verdict !== 'verified' && now.sentence !== '' ? `: ${now.sentence}` : '';
  return `${now.title}: ${now.verdict ?? 'no result'}${found === '' ? '' : `, ${found}`}${more}`;
}

/** One line for what became of applying or undoing, and how loud to say it. */
export function published(act: 'apply' | 'undo', outcome: Outcome): { text: string; isBad: boolean } {
  const unsaid = outcome.unsaved.filter((path) => !outcome.sentence.includes(path));
  const unsaved = unsaid.length === 0 ? '' : ` Not saved: ${unsaid.join(', ')}.`;
  const isBad = outcome.outcome !== 'applied' && outcome.outcome !== 'already there';
  const word = act === 'undo' && !isBad ? 'undone' : outcome.outcome;
  const says = outcome.sentence.toLowerCase().startsWith(word) ? [outcome.sentence] : [word, outcome.sentence];
  return { text: `${outcome.task.title}: ${says.map(sentence).join(' ').trim()}${unsaved}`, isBad };
}

function sentence(text: string): string {
  if (text === '') return '';
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

export function plural(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}
