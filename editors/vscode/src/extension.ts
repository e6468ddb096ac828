// The extension's beginning and end: makes the parts and ties them together.

import * as vscode from 'vscode';
import { registerCommands, resume } from './commands';
import { type Context, complain, refresh } from './context';
import { LentModels } from './lentModels';
import { answerQuestions, approvePlan, openPlan, tellPlans } from './owed';
import { plain } from './plain';
import { Reports } from './reports';
import { Review } from './review';
import { Server } from './server';
import { chooseAnswer } from './starting';
import { StatusBar } from './statusBar';
import { type Change, Tasks } from './tasks';
import { review } from './verdicts';
import { Texts } from './texts';
import { TreeFiles } from './treeFiles';
import { TaskView } from './view';
import { finished, hasDiff } from './words';

let running: Server | undefined;

export async function activate(extension: vscode.ExtensionContext): Promise<void> {
  const server = new Server(extension.extensionPath);
  running = server;
  const tasks = new Tasks();
  const reports = new Reports((command, argument) => server.call(command, argument));
  const reviews = new Review(tasks, reports);
  const texts = new Texts();
  const context: Context = { server, tasks, reports, review: reviews, texts };
  extension.subscriptions.push(
    server,
    reviews,
    texts,
    new TreeFiles(server),
    new LentModels(server),
    new TaskView(tasks, reports),
    new StatusBar(tasks, server, () => reviews.active()),
    ...registerCommands(context),
    new vscode.Disposable(tasks.onChange((change) => { tellEnd(context, change); })),
    new vscode.Disposable(tasks.onChange(() => { tellPlans(tasks); })),
    server.onTaskChanged((line) => {
      const isNew = tasks.get(line.id) === undefined;
      tasks.update(line);
      // The list knows the order of tasks, and what else was found when folders were read.
      if (isNew) refreshSoon(context);
    }),
    server.onStarted(() => {
      refresh(context).catch((error: unknown) => { complain(server, error); });
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.start()),
    vscode.workspace.onDidChangeConfiguration((change) => { offerRestart(server, change); }),
  );
  await server.start();
}

export async function deactivate(): Promise<void> {
  await running?.stop();
  running = undefined;
}

let refreshing = false;

/** One list for all tasks that are announced at once. */
function refreshSoon(context: Context): void {
  if (refreshing) return;
  refreshing = true;
  setTimeout(() => {
    refreshing = false;
    refresh(context).catch(() => undefined);
  }, 200);
}

/** A task that came to its end shows one message. Nothing opens by itself. */
function tellEnd(context: Context, change: Change): void {
  if (change === 'all' || change.before === undefined) return;
  const { before, now } = change;
  const text = finished(before, now);
  if (text === undefined) return;
  const next: Record<string, () => Promise<void>> = {};
  if (hasDiff(now)) next['Review'] = () => review(context, { task: now.id });
  if (now.next.includes('resume')) next['Resume'] = () => resume(context, { task: now.id });
  if (now.next.includes('answer')) next['Answer'] = () => answerQuestions(context, { task: now.id });
  if (now.next.includes('approve_plan')) {
    next['Open Plan'] = () => openPlan(context, { task: now.id });
    next['Approve'] = () => approvePlan(context, { task: now.id, version: now.plan?.version });
  }
  if (now.question !== null && now.question.options.length > 0) next['Answer'] = () => chooseAnswer(context, now);
  const isGood = now.verdict === 'verified' || now.verdict === 'nothing to do' || now.verdict === 'cancelled';
  const show = isGood ? vscode.window.showInformationMessage : vscode.window.showWarningMessage;
  void show(plain(`Understudy: ${text}`), ...Object.keys(next)).then(async (chosen) => {
    if (chosen === undefined) return;
    await next[chosen]?.().catch((error: unknown) => { complain(context.server, error); });
  });
}

/** These settings are read when the server starts. A restart ends what runs, so it is never done unasked. */
function offerRestart(server: Server, change: vscode.ConfigurationChangeEvent): void {
  const keys = ['path', 'timeout', 'checkTimeout', 'maxAttempts'];
  if (!keys.some((key) => change.affectsConfiguration(`understudy.${key}`))) return;
  if (server.problem !== undefined) {
    void server.restart();
    return;
  }
  const message = 'Understudy: the settings take effect after a restart of its server.';
  void vscode.window.showInformationMessage(message, 'Restart').then((chosen) => {
    return chosen === undefined ? undefined : server.restart();
  });
}
