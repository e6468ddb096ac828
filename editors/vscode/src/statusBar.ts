// The status bar item: what the task at hand does, and the verdict of what is kept.

import * as vscode from 'vscode';
import { iconless } from './plain';
import type { TaskLine } from './protocol';
import type { Server } from './server';
import type { Tasks } from './tasks';
import { awaitsReview, extent, isBusy, keptLabel, look, spending } from './words';

export class StatusBar implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem('understudy', vscode.StatusBarAlignment.Left, 1);
  readonly #tasks: Tasks;
  readonly #server: Server;
  readonly #inFront: () => TaskLine | undefined;
  readonly #parts: { dispose(): unknown }[];

  /** @param inFront the task whose review the developer looks at */
  constructor(tasks: Tasks, server: Server, inFront: () => TaskLine | undefined) {
    this.#tasks = tasks;
    this.#server = server;
    this.#inFront = inFront;
    this.#item.name = 'Understudy';
    const show = () => {
      this.#show();
    };
    this.#parts = [
      this.#item,
      new vscode.Disposable(tasks.onChange(show)),
      server.onProblemChanged(show),
      vscode.window.tabGroups.onDidChangeTabs(show),
      vscode.window.tabGroups.onDidChangeTabGroups(show),
    ];
    show();
    this.#item.show();
  }

  dispose(): void {
    for (const part of this.#parts) part.dispose();
  }

  #show(): void {
    const item = this.#item;
    item.backgroundColor = undefined;
    if (this.#server.problem !== undefined) {
      item.text = '$(circle-slash) Understudy';
      item.tooltip = this.#server.problem;
      item.command = 'understudy.showTasks';
      return;
    }
    const task = atHand(this.#tasks.all(), this.#inFront());
    if (task === undefined) {
      item.text = '$(checklist) Understudy';
      item.tooltip = 'Understudy: no task runs and no diff waits';
      item.command = 'understudy.showTasks';
      return;
    }
    const reviewing = awaitsReview(task);
    item.text = reviewing ? `${keptLabel(task)} · ${iconless(task.title)}` : `$(${look(task).icon}) ${iconless(`${task.title}: ${look(task).text}`)}`;
    const spent = spending(task);
    if (isBusy(task) && spent !== '') item.text += ` · ${iconless(spent)}`;
    item.tooltip = [task.title, task.sentence, spent, extent(task)].filter((line) => line !== '').join('\n');
    item.command = commandFor(task);
  }
}

function commandFor(task: TaskLine): vscode.Command | string {
  const on = { arguments: [{ task: task.id }] };
  if (awaitsReview(task)) return { title: 'Review', command: 'understudy.reviewTask', ...on };
  if (task.next.includes('answer')) return { title: 'Answer', command: 'understudy.answerTask', ...on };
  if (task.next.includes('approve_plan')) return { title: 'Open Plan', command: 'understudy.openPlan', ...on };
  return 'understudy.showTasks';
}

/** What runs comes first, then what asks something, then the review in front, then what was interrupted, and then a diff that waits. */
function atHand(tasks: TaskLine[], inFront: TaskLine | undefined): TaskLine | undefined {
  const interrupted = tasks.find((task) => task.status === 'interrupted');
  const waiting = tasks.find((task) => awaitsReview(task) && task.next.includes('apply'));
  const asking = tasks.find((task) => task.status === 'needs you');
  return tasks.find(isBusy) ?? asking ?? inFront ?? interrupted ?? waiting;
}
