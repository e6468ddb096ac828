// The table of commands: every id of `names.ts` has its handler here.

import * as vscode from 'vscode';
import { nameOf } from './addresses';
import { explain, explainCode } from './explain';
import { answerQuestions, approvePlan, openPlan, raiseLimits, sendAnswers, steer, tryAgain } from './owed';
import { type Context, allows, chooseTask, complain, refresh, revised } from './context';
import type { CommandId } from './names';
import type { Node } from './nodes';
import { topOf } from './places';
import { plain } from './plain';
import { type Check, type TaskLine, serverCommand } from './protocol';
import { answer, newTask, proveChanges, rename, renameSymbol } from './starting';
import { apply, judgeHunks, review, undo } from './verdicts';
import { hasDiff, isBusy, wantsCheck } from './words';

type Handler = (context: Context, argument: unknown) => Promise<void> | void;

const HANDLERS: Record<CommandId, Handler> = {
  'understudy.newTask': newTask,
  'understudy.proveChanges': proveChanges,
  'understudy.renameSymbol': renameSymbol,
  'understudy.reviewTask': review,
  'understudy.applyTask': apply,
  'understudy.undoTask': undo,
  'understudy.cancelTask': async (context, argument) => {
    // While something runs, that is what is meant, and not a review that waits.
    const runs = context.tasks.all().some(isBusy);
    const task = await chooseTask(context, argument, 'cancel', (task) => allows('cancel')(task) && (!runs || isBusy(task)));
    if (task === undefined || (task.status === 'review' && !(await endsReview(task)))) return;
    await context.server.call(serverCommand.cancel, { task: task.id });
    await refresh(context);
  },
  'understudy.resumeTask': resume,
  'understudy.forgetTask': async (context, argument) => {
    const task = await chooseTask(context, argument, 'forget', (task) => !isBusy(task));
    if (task === undefined) return;
    await context.server.call(serverCommand.forget, { task: task.id });
    context.tasks.remove(task.id);
  },
  'understudy.checkKept': checkKept,
  'understudy.showTasks': async () => {
    await vscode.commands.executeCommand('understudy.tasks.focus');
  },
  'understudy.runDoctor': async (context) => {
    const { text } = await context.server.call<{ text: string }>(serverCommand.doctor, {});
    await context.texts.show('Understudy Doctor', text);
  },
  'understudy.restartServer': async (context) => {
    await context.server.restart();
  },
  'understudy.showLog': (context) => {
    context.server.showLog();
  },
  'understudy.answerTask': answerQuestions,
  'understudy.openPlan': openPlan,
  'understudy.approvePlan': approvePlan,
  'understudy.steerTask': steer,
  'understudy.raiseLimits': raiseLimits,
  'understudy.tryAgain': tryAgain,
  'understudy.explainCode': explainCode,
  'understudy.client.rename': rename,
  'understudy.client.explain': explain,
  'understudy.keepHunks': (context, argument) => judgeHunks(context, 'keep', argument),
  'understudy.rejectHunks': (context, argument) => judgeHunks(context, 'reject', argument),
  'understudy.checkAgain': async (context, argument) => {
    const task = await chooseTask(context, argument, 'check again', hasDiff);
    if (task !== undefined) await context.server.call(serverCommand.checkAgain, { task: task.id, revision: task.revision });
  },
  'understudy.showReceipt': (context, argument) => showText(context, argument, 'receipt'),
  'understudy.compareWithBase': (context, argument) => showText(context, argument, 'compare'),
  'understudy.openNode': async (context, argument) => {
    await open(context, argument as Node);
  },
};

/**
 * Commands of the server that its code actions call. To this client the server shows nothing itself, so they take the same
 * way as the commands of the extension: what is asked, refused or answered is shown.
 */
const ROUTES: Partial<Record<string, Handler>> = {
  [serverCommand.review]: review,
  [serverCommand.apply]: apply,
  [serverCommand.undo]: undo,
  [serverCommand.keep]: (context, argument) => judgeHunks(context, 'keep', argument),
  [serverCommand.reject]: (context, argument) => judgeHunks(context, 'reject', argument),
  [serverCommand.cancel]: HANDLERS['understudy.cancelTask'],
  [serverCommand.resume]: resume,
  [serverCommand.receipt]: (context, argument) => showText(context, argument, 'receipt'),
  [serverCommand.compare]: (context, argument) => showText(context, argument, 'compare'),
  [serverCommand.create]: async (context, argument) => {
    await context.server.call(serverCommand.create, argument as object);
  },
  [serverCommand.check]: checkKept,
  [serverCommand.checkAgain]: HANDLERS['understudy.checkAgain'],
  [serverCommand.openPlan]: openPlan,
  [serverCommand.approvePlan]: approvePlan,
};

export function registerCommands(context: Context): vscode.Disposable[] {
  const carryOut = async (handler: Handler, argument: unknown) => {
    try {
      await handler(context, argument);
    } catch (error) {
      complain(context.server, error);
    }
  };
  context.server.route = (command, argument) => {
    const handler = ROUTES[command];
    return handler === undefined ? undefined : carryOut(handler, argument);
  };
  const register = (id: string, handler: Handler) =>
    vscode.commands.registerCommand(id, (argument: unknown) => carryOut(handler, argument));
  return Object.entries(HANDLERS).map(([id, handler]) => register(id, handler));
}

/** Nodes of the view hold task and check, code actions name them. */
function checkOf(argument: unknown): { task: string; check: string } | undefined {
  if (typeof argument !== 'object' || argument === null || !('check' in argument)) return undefined;
  const { task, check } = argument as { task: TaskLine | string; check: Check | string };
  return { task: typeof task === 'string' ? task : task.id, check: typeof check === 'string' ? check : check.check };
}

async function showText(context: Context, argument: unknown, what: 'receipt' | 'compare'): Promise<void> {
  const on = checkOf(argument);
  if (on === undefined) return;
  const { text } = await context.server.call<{ text: string }>(serverCommand[what], on);
  const title = what === 'receipt' ? `${on.check} (${on.task})` : `${on.check} against base (${on.task})`;
  await context.texts.show(title, text);
}

async function checkKept(context: Context, argument: unknown): Promise<void> {
  const task = await chooseTask(context, argument, 'check', wantsCheck);
  if (task === undefined) return;
  await revised(context, task.id, (now) => now.kept_tree === task.kept_tree, ({ revision }) =>
    context.server.call(serverCommand.check, { task: task.id, revision }),
  );
}

export async function resume(context: Context, argument: unknown): Promise<void> {
  const task = await chooseTask(context, argument, 'resume', allows('resume'));
  if (task !== undefined) await context.server.call(serverCommand.resume, { task: task.id });
}

/** A review that is ended cannot be taken up again, so it is asked about. */
async function endsReview(task: TaskLine): Promise<boolean> {
  const detail = 'Nothing of yours changes. The diff can be looked at afterwards, but not applied.';
  const answer = await vscode.window.showWarningMessage(plain(`End the review of "${task.title}"?`), { modal: true, detail }, 'End Review');
  return answer !== undefined;
}

/** What a click on a node opens. */
async function open(context: Context, node: Node): Promise<void> {
  switch (node.kind) {
    case 'file':
      return context.review.openFile(node.task, node.file);
    case 'hunk':
      return context.review.openFile(node.task, node.file, node.hunk);
    case 'check':
      return showText(context, node, 'receipt');
    case 'failure':
      if (node.failure.at) return openPlace(node.task.folder, ...node.failure.at);
      return showText(context, node, 'compare');
    case 'limitation':
      if (node.limitation.path) return openPlace(node.task.folder, node.limitation.path, node.limitation.line ?? 1);
      void vscode.window.showInformationMessage(plain(node.limitation.text));
      return undefined;
    case 'line':
      if (node.command !== undefined) return HANDLERS[node.command](context, { task: node.task.id });
      if (node.answer === undefined) return undefined;
      return node.task.status === 'needs you' ? sendAnswers(context, node.task, [node.answer]) : answer(context, node.task, node.answer);
    case 'task':
      return undefined;
  }
}

async function openPlace(folder: string, path: string, line: number): Promise<void> {
  const at = new vscode.Position(Math.max(0, line - 1), 0);
  const uri = vscode.Uri.joinPath(vscode.Uri.file(topOf(folder)), nameOf(path));
  await vscode.window.showTextDocument(uri, { preview: true, selection: new vscode.Range(at, at) });
}
