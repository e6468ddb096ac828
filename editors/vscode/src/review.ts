// The review of a proposal: all changed files in one editor, with verdict lenses in it.

import * as vscode from 'vscode';
import { SCHEME, addressOf, nameOf } from './addresses';
import { type FileDiff, byFile, hunkAt, lineOf } from './hunks';
import { lensesOf } from './lenses';
import { topOf } from './places';
import type { TaskLine } from './protocol';
import type { Reports } from './reports';
import type { Tasks } from './tasks';
import { uriOf } from './treeFiles';
import { takesVerdicts } from './words';

/** The title of a review names its task, because the title is all that a tab tells an extension. */
function titleOf(task: TaskLine): string {
  return `Understudy: ${task.title} (${task.id})`;
}

interface Shown {
  task: TaskLine;
  file: FileDiff;
  side: 'base' | 'tree';
  isFirst: boolean;
}

interface Sides {
  label: vscode.Uri;
  base: vscode.Uri | undefined;
  tree: vscode.Uri | undefined;
}

function sidesOf(task: TaskLine, file: FileDiff): Sides {
  const address = (tree: string | null, path: string) => uriOf({ task: task.id, tree: tree ?? '', path });
  return {
    label: vscode.Uri.joinPath(vscode.Uri.file(topOf(task.folder)), nameOf(file.path)),
    base: file.inBase ? address(task.base, file.oldPath) : undefined,
    tree: file.inTree ? address(task.tree, file.path) : undefined,
  };
}

export class Review implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #tasks: Tasks;
  readonly #reports: Reports;
  readonly #lensesChanged = new vscode.EventEmitter<void>();
  readonly #parts: { dispose(): unknown }[];
  readonly onDidChangeCodeLenses = this.#lensesChanged.event;

  constructor(tasks: Tasks, reports: Reports) {
    this.#tasks = tasks;
    this.#reports = reports;
    const refresh = () => {
      this.#lensesChanged.fire();
      this.#tellContext();
    };
    this.#parts = [
      vscode.languages.registerCodeLensProvider({ scheme: SCHEME }, this),
      vscode.window.tabGroups.onDidChangeTabs(() => {
        this.#tellContext();
      }),
      vscode.window.tabGroups.onDidChangeTabGroups(() => {
        this.#tellContext();
      }),
      new vscode.Disposable(tasks.onChange(refresh)),
      this.#lensesChanged,
    ];
  }

  /** The task whose review is in front. */
  active(): TaskLine | undefined {
    const label = vscode.window.tabGroups.activeTabGroup.activeTab?.label;
    // The editor puts the number of files behind the title.
    const titled = this.#tasks.all().find((task) => label?.startsWith(titleOf(task)));
    if (titled !== undefined) return titled;
    const document = vscode.window.activeTextEditor?.document.uri;
    const address = document?.scheme === SCHEME ? addressOf(document) : undefined;
    return address === undefined ? undefined : this.#tasks.get(address.task);
  }

  /** All files of a proposal. Nothing but a command of the developer opens it. */
  async open(task: TaskLine): Promise<void> {
    const files = await this.#files(task);
    const resources = files.map((file) => {
      const { label, base, tree } = sidesOf(task, file);
      return [label, base, tree];
    });
    await vscode.commands.executeCommand('vscode.changes', titleOf(task), resources);
  }

  /** One file, at one of its hunks. */
  async openFile(task: TaskLine, file: FileDiff, hunk = file.hunks[0]): Promise<void> {
    const { base, tree } = sidesOf(task, file);
    const title = `${file.path} (${task.title})`;
    const line = hunk === undefined ? 0 : lineOf(hunk, file.inTree ? 'tree' : 'base');
    const options = { preview: true, selection: new vscode.Range(line, 0, line, 0) };
    const only = tree ?? base;
    if (base !== undefined && tree !== undefined) await vscode.commands.executeCommand('vscode.diff', base, tree, title, options);
    else if (only !== undefined) await vscode.commands.executeCommand('vscode.open', only, options, title);
  }

  /** The hunk at the cursor of a diff, named as lenses name it. */
  async atCursor(): Promise<{ task: string; tree: string; hunks: string[] } | undefined> {
    const editor = vscode.window.activeTextEditor;
    const shown = editor === undefined ? undefined : await this.#shown(editor.document.uri);
    if (editor === undefined || shown === undefined) return undefined;
    const { task, file, side } = shown;
    const hunk = hunkAt(file.hunks, editor.selection.active.line, side);
    return hunk === undefined || task.tree === null ? undefined : { task: task.id, tree: task.tree, hunks: [hunk.id] };
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const shown = await this.#shown(document.uri);
    if (shown === undefined) return [];
    const { task, file, side, isFirst } = shown;
    const last = Math.max(0, document.lineCount - 1);
    return lensesOf(task, file, side, isFirst).map((lens) => {
      const line = Math.min(lens.line, last);
      const { title, tooltip = '', command = '', arguments: values = [] } = lens;
      return new vscode.CodeLens(new vscode.Range(line, 0, line, 0), { title, tooltip, command, arguments: values });
    });
  }

  dispose(): void {
    for (const part of this.#parts) part.dispose();
  }

  /** What a document shows: one side of one file of the diff under review. */
  async #shown(uri: vscode.Uri): Promise<Shown | undefined> {
    const address = uri.scheme === SCHEME ? addressOf(uri) : undefined;
    const task = address === undefined ? undefined : this.#tasks.get(address.task);
    if (address === undefined || task === undefined) return undefined;
    const side = address.tree === task.tree ? 'tree' : address.tree === task.base ? 'base' : undefined;
    const files = await this.#files(task);
    const file = files.find((file) => (side === 'base' ? file.oldPath : file.path) === address.path);
    return side === undefined || file === undefined ? undefined : { task, file, side, isFirst: file === files[0] };
  }

  async #files(task: TaskLine): Promise<FileDiff[]> {
    const reviewed = await this.#reports.of(task);
    return byFile(reviewed?.hunks ?? []);
  }

  /** Lets the title bar of a review offer what can be done with its task. */
  #tellContext(): void {
    const active = this.active();
    const next = active?.next ?? [];
    const set = (key: string, value: boolean) => vscode.commands.executeCommand('setContext', `understudy.${key}`, value);
    void set('reviewTakesVerdicts', active !== undefined && takesVerdicts(active));
    void set('reviewCanApply', next.includes('apply'));
    void set('reviewCanUndo', next.includes('undo'));
  }
}
