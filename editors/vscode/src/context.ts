// What the commands work with, and how they speak to the developer when something does not work.

import * as vscode from 'vscode';
import type { Texts } from './texts';
import { iconless, plain } from './plain';
import { type Action, CONTENT_MODIFIED, INVALID_PARAMS, REQUEST_FAILED, type TaskLine, serverCommand } from './protocol';
import type { Reports } from './reports';
import type { Review } from './review';
import { type Server, Unavailable, codeOf, messageOf } from './server';
import type { Tasks } from './tasks';
import { look } from './words';

export interface Context {
  server: Server;
  tasks: Tasks;
  reports: Reports;
  review: Review;
  texts: Texts;
}

/** A task named by what a command was called on. */
export interface OnTask {
  task: string;
}

/** Asks for all tasks anew. */
export async function refresh({ server, tasks }: Context): Promise<void> {
  tasks.replace(await server.call<TaskLine[]>(serverCommand.list, {}));
}

/** The task that a command is about: what it was called on, the review in front, the only one that fits, or a choice. */
export async function chooseTask(
  context: Context,
  argument: unknown,
  what: string,
  fits: (task: TaskLine) => boolean,
): Promise<TaskLine | undefined> {
  const named = taskIdOf(argument);
  if (named !== undefined) return context.tasks.get(named);
  if (context.server.problem !== undefined) throw new Unavailable(context.server.problem);
  const inFront = context.review.active();
  if (inFront !== undefined && fits(inFront)) return inFront;
  const fitting = context.tasks.all().filter(fits);
  if (fitting.length === 0) {
    void vscode.window.showInformationMessage(`Understudy: there is no task to ${what}.`);
    return undefined;
  }
  if (fitting.length === 1) return fitting[0];
  const items = fitting.map((task) => ({ label: iconless(task.title), description: task.id, detail: iconless(look(task).text), task }));
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: `Which task to ${what}?` });
  return chosen?.task;
}

export const allows = (action: Action) => (task: TaskLine) => task.next.includes(action);

/** Commands are called with a task's id, with a node of the view, or with nothing. */
function taskIdOf(argument: unknown): string | undefined {
  if (typeof argument !== 'object' || argument === null || !('task' in argument)) return undefined;
  const { task } = argument;
  if (typeof task === 'string') return task;
  return typeof task === 'object' && task !== null && 'id' in task && typeof task.id === 'string' ? task.id : undefined;
}

/**
 * Calls with the revision that is known. Where the task has moved on, the call is made again with the new revision as long
 * as `isSame` says that what the developer decided on is still what it was.
 */
export async function revised<Answer>(
  context: Context,
  id: string,
  isSame: (task: TaskLine) => boolean,
  call: (task: TaskLine) => Promise<Answer>,
): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const task = context.tasks.get(id);
    if (task === undefined || !isSame(task)) throw new Error('The task has changed meanwhile. Look at it again.');
    try {
      return await call(task);
    } catch (error) {
      if (codeOf(error) !== CONTENT_MODIFIED || tries === 3) throw error;
      await refresh(context);
    }
  }
}

/** Says why a command did not work, with the next thing to do. Waits for nobody. */
export function complain(server: Server, error: unknown): void {
  const message = plain(`Understudy: ${messageOf(error)}`);
  const remedies = remediesFor(server, error);
  const titles = Object.keys(remedies);
  const show = titles.length === 0 ? vscode.window.showWarningMessage : vscode.window.showErrorMessage;
  void show(message, ...titles).then((chosen) => (chosen === undefined ? undefined : remedies[chosen]?.()));
}

/** A refusal says all there is to know; the log helps with what nobody foresaw. */
function remediesFor(server: Server, error: unknown): Record<string, () => unknown> {
  if (error instanceof Unavailable) {
    if (!vscode.workspace.isTrusted) return { 'Manage Trust': () => vscode.commands.executeCommand('workbench.trust.manage') };
    const open = () => vscode.commands.executeCommand('workbench.action.openSettings', 'understudy.path');
    return { 'Open Settings': open, Restart: () => server.restart() };
  }
  const code = codeOf(error);
  const isRefusal = code === undefined || [REQUEST_FAILED, INVALID_PARAMS, CONTENT_MODIFIED].includes(code);
  return isRefusal ? {} : { 'Show Log': () => server.showLog() };
}
