// The table of commands: every id of `names.ts` has its handler here.

import * as vscode from 'vscode';
import { type Context, allows, chooseTask, complain, refresh } from './context';
import type { CommandId } from './names';
import { type Node, show } from './nodes';
import { serverCommand } from './protocol';
import { answer, newTask, proveChanges, renameSymbol } from './starting';
import { apply, judgeHunks, review, undo } from './verdicts';
import { isBusy } from './words';

type Handler = (context: Context, argument: unknown) => Promise<void> | void;

const HANDLERS: Record<CommandId, Handler> = {
  'understudy.newTask': newTask,
  'understudy.proveChanges': proveChanges,
  'understudy.renameSymbol': renameSymbol,
  'understudy.reviewTask': review,
  'understudy.applyTask': apply,
  'understudy.undoTask': undo,
  'understudy.cancelTask': async (context, argument) => {
    const task = await chooseTask(context, argument, 'cancel', allows('cancel'));
    if (task === undefined) return;
    await context.server.call(serverCommand.cancel, { task: task.id });
    await refresh(context);
  },
  'understudy.resumeTask': async (context, argument) => {
    const task = await chooseTask(context, argument, 'resume', allows('resume'));
    if (task !== undefined) await context.server.call(serverCommand.resume, { task: task.id });
  },
  'understudy.forgetTask': async (context, argument) => {
    const task = await chooseTask(context, argument, 'forget', (task) => !isBusy(task));
    if (task === undefined) return;
    await context.server.call(serverCommand.forget, { task: task.id });
    context.tasks.remove(task.id);
  },
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
  'understudy.keepHunks': (context, argument) => judgeHunks(context, 'keep', argument),
  'understudy.rejectHunks': (context, argument) => judgeHunks(context, 'reject', argument),
  'understudy.checkAgain': async (context, argument) => {
    const id = checkOf(argument)?.task.id;
    const task = id === undefined ? undefined : context.tasks.get(id);
    if (task !== undefined) await context.server.call(serverCommand.checkAgain, { task: task.id, revision: task.revision });
  },
  'understudy.showReceipt': (context, argument) => showText(context, argument, 'receipt'),
  'understudy.compareWithBase': (context, argument) => showText(context, argument, 'compare'),
  'understudy.openNode': async (context, argument) => {
    await open(context, argument as Node);
  },
};

export function registerCommands(context: Context): vscode.Disposable[] {
  return Object.entries(HANDLERS).map(([id, handler]) =>
    vscode.commands.registerCommand(id, async (argument: unknown) => {
      try {
        await handler(context, argument);
      } catch (error) {
        complain(context.server, error);
      }
    }),
  );
}

function checkOf(argument: unknown): Extract<Node, { kind: 'check' | 'failure' }> | undefined {
  const node = argument as Node | undefined;
  return node?.kind === 'check' || node?.kind === 'failure' ? node : undefined;
}

async function showText(context: Context, argument: unknown, what: 'receipt' | 'compare'): Promise<void> {
  const node = checkOf(argument);
  if (node === undefined) return;
  const { task, check } = node;
  const { text } = await context.server.call<{ text: string }>(serverCommand[what], { task: task.id, check: check.check });
  const title = what === 'receipt' ? `${check.check} (${task.id})` : `${check.check} against base (${task.id})`;
  await context.texts.show(title, text);
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
      void vscode.window.showInformationMessage(show(node).label);
      return undefined;
    case 'line':
      return node.answer === undefined ? undefined : answer(context, node.task, node.answer);
    case 'task':
      return undefined;
  }
}

async function openPlace(folder: string, path: string, line: number): Promise<void> {
  const at = new vscode.Position(Math.max(0, line - 1), 0);
  const uri = vscode.Uri.joinPath(vscode.Uri.file(folder), path);
  await vscode.window.showTextDocument(uri, { preview: true, selection: new vscode.Range(at, at) });
}
