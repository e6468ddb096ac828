// What the developer decides about a diff: keep and reject hunks, apply, undo.

import * as vscode from 'vscode';
import { short } from './addresses';
import { approval } from './approval';
import { type Context, allows, chooseTask, complain, revised } from './context';
import { consents } from './hunks';
import { plain } from './plain';
import { type Outcome, type TaskLine, serverCommand } from './protocol';
import { hasDiff, published } from './words';

/** What lenses say: these hunks of this proposal. */
interface OnHunks {
  task: string;
  tree: string;
  hunks: string[];
}

export async function judgeHunks(context: Context, verdict: 'keep' | 'reject', argument: unknown): Promise<void> {
  const change = onHunks(context, argument) ?? (await context.review.atCursor());
  if (change === undefined) throw new Error('Put the cursor on a hunk of a review first.');
  const { task: id, tree, hunks } = change;
  const isSame = (task: TaskLine) => task.tree === tree;
  const line = await revised(context, id, isSame, ({ revision }) =>
    context.server.call<TaskLine>(serverCommand[verdict], { task: id, revision, hunks }),
  );
  context.tasks.update(line);
}

/** Lenses name hunks, code actions name them without the tree, nodes of the view are hunks. */
function onHunks({ tasks }: Context, argument: unknown): OnHunks | undefined {
  if (typeof argument !== 'object' || argument === null) return undefined;
  if ('hunks' in argument) {
    const { task, hunks, tree = tasks.get(task)?.tree ?? '' } = argument as { task: string; hunks: string[]; tree?: string };
    return { task, hunks, tree };
  }
  if ('hunk' in argument) {
    const { task, hunk } = argument as { task: TaskLine; hunk: { id: string } };
    return task.tree === null ? undefined : { task: task.id, tree: task.tree, hunks: [hunk.id] };
  }
  return undefined;
}

export async function apply(context: Context, argument: unknown): Promise<void> {
  const task = await chooseTask(context, argument, 'apply', allows('apply'));
  if (task === undefined) return;
  const reviewed = await context.reports.of(task);
  if (reviewed === undefined) throw new Error('The diff of this task cannot be read now.');
  const asked = approval(task, consents(reviewed.hunks), reviewed.reasons);
  if (asked === undefined) throw new Error('No hunk of this task is kept, so there is nothing to apply.');
  const { tree, question, unverified, consent } = asked;
  if (namesOther(argument, tree)) throw new Error('The task has changed meanwhile. Look at it again.');
  if (question !== undefined) {
    const { message, detail, button } = question;
    const answer = await vscode.window.showWarningMessage(plain(message), { modal: true, detail: plain(detail) }, button);
    if (answer !== button) return;
  }
  // The approval is for this tree with this verdict; another one is asked about anew.
  const isSame = (now: TaskLine) => now.kept_tree === tree && now.kept_verdict === task.kept_verdict;
  const permission = { ...(unverified && { unverified }), ...(consent.length > 0 && { consent }) };
  const outcome = await working(`applying ${short(tree)}`, () =>
    revised(context, task.id, isSame, ({ revision }) =>
      context.server.call<Outcome>(serverCommand.apply, { task: task.id, revision, tree, ...permission }),
    ),
  );
  context.tasks.update(outcome.task);
  say(context, 'apply', outcome, ` (${short(tree)}, ${unverified ? 'not verified' : 'verified'})`);
}

/** A code action names the tree that it was offered for. */
function namesOther(argument: unknown, tree: string): boolean {
  return typeof argument === 'object' && argument !== null && 'tree' in argument && argument.tree !== tree;
}

export async function undo(context: Context, argument: unknown): Promise<void> {
  const task = await chooseTask(context, argument, 'undo', allows('undo'));
  if (task === undefined) return;
  const { number } = task.publication ?? {};
  const isSame = (now: TaskLine) => now.publication?.number === number;
  const outcome = await working(`taking back ${task.title}`, () =>
    revised(context, task.id, isSame, ({ revision }) =>
      context.server.call<Outcome>(serverCommand.undo, { task: task.id, revision }),
    ),
  );
  context.tasks.update(outcome.task);
  say(context, 'undo', outcome);
}

export async function review(context: Context, argument: unknown): Promise<void> {
  const task = await chooseTask(context, argument, 'review', hasDiff);
  if (task !== undefined) await context.review.open(task);
}

async function working<Answer>(title: string, work: () => Promise<Answer>): Promise<Answer> {
  const location = vscode.ProgressLocation.Window;
  return vscode.window.withProgress({ location, title: `Understudy: ${title}` }, work);
}

/** One message for what became of it, with what can be done next. */
function say(context: Context, act: 'apply' | 'undo', outcome: Outcome, tree = ''): void {
  const { text, isBad } = published(act, outcome);
  const next = { Apply: apply, Undo: undo, Review: review };
  const buttons: (keyof typeof next)[] = [];
  if (outcome.outcome === 'partial') buttons.push('Apply');
  // A message with a button stays until it is dismissed, so there is none where all is well: undo is in the title bar.
  if (isBad && outcome.task.next.includes('undo')) buttons.push('Undo');
  if (isBad && hasDiff(outcome.task)) buttons.push('Review');
  const show = isBad ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
  void show(plain(isBad ? text : `${text}${tree}`), ...buttons).then(async (button) => {
    try {
      if (button !== undefined) await next[button](context, { task: outcome.task.id });
    } catch (error) {
      complain(context.server, error);
    }
  });
}
