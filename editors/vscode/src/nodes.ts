// What the task view shows: tasks, and below each its verdict, checks, limitations, files and hunks. Pure, for tests.

import { type FileDiff, byFile, describe, tally } from './hunks';
import type { Check, Failure, Hunk, Limitation, TaskLine } from './protocol';
import type { CommandId } from './names';
import { extent, hasDiff, isBusy, look, spending, takesVerdicts, verdictLook } from './words';

/** All hunks of a proposal, and what the checks say about those that are kept. */
export interface Reviewed {
  hunks: Hunk[];
  reasons: string[];
  checks: Check[];
  limitations: Limitation[];
}

export type Node =
  | { kind: 'task'; task: TaskLine }
  | { kind: 'line'; task: TaskLine; icon: string; label: string; description?: string; answer?: string; command?: CommandId }
  | { kind: 'check'; task: TaskLine; check: Check }
  | { kind: 'failure'; task: TaskLine; check: Check; failure: Failure }
  | { kind: 'limitation'; task: TaskLine; limitation: Limitation }
  | { kind: 'file'; task: TaskLine; file: FileDiff }
  | { kind: 'hunk'; task: TaskLine; file: FileDiff; hunk: Hunk };

/** How a node looks; editors add their own types. */
export interface Shown {
  label: string;
  description: string;
  icon: string;
  tooltip: string;
  /** Names the kind of node to menus, with what may be done. */
  context: string;
  opens: 'collapsed' | 'expanded' | 'never';
}

/** Whether the parts of a task can be listed. */
export function hasParts(task: TaskLine): boolean {
  return hasDiff(task) || task.sentence !== '' || task.question !== null || task.usage !== null;
}

export function partsOf(task: TaskLine, reviewed: Reviewed | undefined): Node[] {
  const { icon, text } = isBusy(task) || task.status === 'needs you' ? look(task) : verdictLook(task);
  const nodes: Node[] = [{ kind: 'line', task, icon, label: text, description: task.sentence }];
  if (task.publication !== null) {
    nodes.push({ kind: 'line', task, icon: 'history', label: task.publication.state, description: task.publication.sentence });
  }
  if (task.question !== null) {
    nodes.push({ kind: 'line', task, icon: 'question', label: task.question.text });
    for (const answer of task.question.options) nodes.push({ kind: 'line', task, icon: 'reply', label: answer, answer });
  }
  nodes.push(...owed(task), ...planned(task));
  if (reviewed === undefined) return nodes;
  for (const reason of reviewed.reasons) nodes.push(...reasonNodes(task, reason));
  for (const check of reviewed.checks) nodes.push({ kind: 'check', task, check });
  for (const limitation of reviewed.limitations) nodes.push({ kind: 'limitation', task, limitation });
  for (const file of byFile(reviewed.hunks)) nodes.push({ kind: 'file', task, file });
  return nodes;
}

/** What the developer is asked: an option is an answer where there is one question, and several are asked one after the other. */
function owed(task: TaskLine): Node[] {
  const nodes: Node[] = [];
  const only = task.questions.length === 1;
  for (const { text, options, why } of task.questions) {
    nodes.push({ kind: 'line', task, icon: 'question', label: text, description: why ?? '', command: 'understudy.answerTask' });
    if (only) for (const answer of options) nodes.push({ kind: 'line', task, icon: 'reply', label: answer, answer });
  }
  if (task.next.includes('approve_plan')) {
    nodes.push({ kind: 'line', task, icon: 'edit', label: 'Read or change the plan', command: 'understudy.openPlan' });
    nodes.push({ kind: 'line', task, icon: 'check', label: 'Approve the plan', command: 'understudy.approvePlan' });
  }
  return nodes;
}

const STEP_ICONS = { pending: 'circle-outline', running: 'loading~spin', done: 'pass', stale: 'history', failed: 'error' } as const;

function planned(task: TaskLine): Node[] {
  const steps = task.plan?.steps ?? [];
  const nodes: Node[] = steps.map(({ title, status }) => ({ kind: 'line', task, icon: STEP_ICONS[status], label: title, description: status, command: 'understudy.openPlan' }));
  const spent = spending(task);
  if (spent !== '') nodes.push({ kind: 'line', task, icon: 'dashboard', label: spent });
  return nodes;
}

/** A reason may name places, one a line; each of them can be opened. What the sentence of the task says is not said twice. */
function reasonNodes(task: TaskLine, reason: string): Node[] {
  const [first = '', ...others] = reason.split('\n').map((line) => line.trim());
  const nodes: Node[] = task.sentence.startsWith(first) ? [] : [{ kind: 'line', task, icon: 'info', label: first }];
  for (const text of others.filter((line) => line !== '')) {
    const [, path, line, what] = /^(\S+?):(\d+): (.+)$/.exec(text) ?? [];
    nodes.push(
      path !== undefined && what !== undefined
        ? { kind: 'limitation', task, limitation: { path, line: Number(line), text: what } }
        : { kind: 'line', task, icon: 'info', label: text },
    );
  }
  return nodes;
}

/** What stands below a node that is no task. */
export function below(node: Node): Node[] {
  if (node.kind === 'file') {
    const { task, file } = node;
    return file.hunks.map((hunk) => ({ kind: 'hunk', task, file, hunk }));
  }
  if (node.kind === 'check') {
    const { task, check } = node;
    return check.new_failures.map((failure) => ({ kind: 'failure', task, check, failure }));
  }
  return [];
}

const CHECK_ICONS: Record<string, string> = { passed: 'pass', known_failure: 'pass', failed: 'error', skipped: 'circle-slash' };

export function show(node: Node): Shown {
  const plain = { description: '', tooltip: '', opens: 'never' as const };
  switch (node.kind) {
    case 'task': {
      const { task } = node;
      const now = look(task);
      const context = ['task', ...task.next, ...(hasDiff(task) ? ['review'] : []), ...(task.plan === null ? [] : ['plan'])].join('.');
      const description = [now.text, spending(task), extent(task)].filter((part) => part !== '').join(' · ');
      const tooltip = [task.title, `${task.id} in ${task.folder}`, task.sentence].filter((part) => part !== '').join('\n');
      return { label: task.title, description, icon: now.icon, tooltip, context, opens: hasParts(task) ? 'collapsed' : 'never' };
    }
    case 'line':
      return { ...plain, label: node.label, description: node.description ?? '', icon: node.icon, tooltip: node.description ?? node.label, context: 'line' };
    case 'check': {
      const { check } = node;
      const words = check.verdict.replaceAll('_', ' ');
      const many = `${check.passed} passed`;
      const counted = check.passed === 0 ? words : check.verdict === 'passed' ? many : `${words}, ${many}`;
      const opens = check.new_failures.length > 0 ? 'expanded' : 'never';
      return { label: check.check, description: counted, icon: CHECK_ICONS[check.verdict] ?? 'warning', tooltip: check.reason ?? counted, context: 'check', opens };
    }
    case 'failure': {
      const { id, excerpt, at } = node.failure;
      const place = at ? `${at[0]}:${at[1]}` : id.target;
      return { ...plain, label: id.path === '' ? id.target : id.path, description: place, icon: 'error', tooltip: excerpt, context: 'failure' };
    }
    case 'limitation': {
      const { path, line, text } = node.limitation;
      const place = path ? (line ? `${path}:${line}` : path) : '';
      const [label, description] = place === '' ? [text, ''] : [place, text];
      return { ...plain, label, description, icon: 'info', tooltip: text, context: 'limitation' };
    }
    case 'file': {
      const { file } = node;
      const state = file.inBase ? (file.inTree ? '' : 'deleted, ') : 'created, ';
      return { label: file.path, description: state + tally(file.hunks), icon: 'file', tooltip: file.path, context: 'file', opens: 'collapsed' };
    }
    case 'hunk': {
      const { hunk } = node;
      const state = hunk.rejected ? 'rejected' : 'kept';
      const marks = [state, ...hunk.risks.map((risk) => risk.replaceAll('_', ' '))];
      const icon = hunk.rejected ? 'circle-slash' : 'check';
      return { ...plain, label: describe(hunk), description: marks.join(', '), icon, tooltip: `${hunk.path}, hunk ${hunk.id}`, context: takesVerdicts(node.task) ? `hunk.${state}` : 'hunk' };
    }
  }
}
