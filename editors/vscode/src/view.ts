// The task view in the side bar.

import * as vscode from 'vscode';
import { type Node, below, partsOf, show } from './nodes';
import type { TaskLine } from './protocol';
import type { Reports } from './reports';
import type { Tasks } from './tasks';
import { awaitsReview, look } from './words';

const COLOURS = { good: 'testing.iconPassed', bad: 'list.warningForeground', waiting: 'charts.blue', plain: undefined } as const;

export class TaskView implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  readonly #tasks: Tasks;
  readonly #reports: Reports;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly #view: vscode.TreeView<Node>;
  readonly #stopListening: () => void;
  readonly onDidChangeTreeData = this.#changed.event;

  constructor(tasks: Tasks, reports: Reports) {
    this.#tasks = tasks;
    this.#reports = reports;
    this.#view = vscode.window.createTreeView('understudy.tasks', { treeDataProvider: this });
    this.#stopListening = tasks.onChange(() => {
      this.#changed.fire(undefined);
      this.#count();
    });
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node === undefined) return this.#tasks.all().map((task) => ({ kind: 'task', task }));
    if (node.kind !== 'task') return below(node);
    const task = this.#tasks.get(node.task.id) ?? node.task;
    return partsOf(task, await this.#reports.of(task));
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const shown = show(node);
    const opens = { never: 'None', collapsed: 'Collapsed', expanded: 'Expanded' } as const;
    const item = new vscode.TreeItem(shown.label, vscode.TreeItemCollapsibleState[opens[shown.opens]]);
    item.description = shown.description;
    item.tooltip = shown.tooltip;
    item.contextValue = shown.context;
    const colour = node.kind === 'task' ? COLOURS[look(node.task).colour] : undefined;
    item.iconPath = new vscode.ThemeIcon(shown.icon, colour === undefined ? undefined : new vscode.ThemeColor(colour));
    const id = idOf(node);
    if (id !== undefined) item.id = id;
    const opening = ['file', 'hunk', 'check', 'failure', 'limitation'].includes(node.kind);
    if (opening || (node.kind === 'line' && (node.answer ?? node.command) !== undefined)) {
      item.command = { title: 'Open', command: 'understudy.openNode', arguments: [node] };
    }
    return item;
  }

  dispose(): void {
    this.#stopListening();
    this.#view.dispose();
    this.#changed.dispose();
  }

  /** The badge counts what waits for the developer: diffs, questions and plans. */
  #count(): void {
    const waits = (task: TaskLine) => task.status === 'needs you' || (awaitsReview(task) && task.next.includes('apply'));
    const value = this.#tasks.all().filter(waits).length;
    this.#view.badge = value === 0 ? undefined : { value, tooltip: value === 1 ? '1 task waits for you' : `${value} tasks wait for you` };
  }
}

/** Keeps open what is open while everything is refreshed. */
function idOf(node: Node): string | undefined {
  switch (node.kind) {
    case 'task':
      return node.task.id;
    case 'check':
      return `${node.task.id} check ${node.check.check}`;
    case 'file':
      return `${node.task.id} file ${node.file.path}`;
    case 'hunk':
      return `${node.task.id} hunk ${node.hunk.id}`;
    default:
      return undefined;
  }
}
