// Starting tasks: a description, the changes of the working tree, or a symbol at the cursor.

import { relative } from 'node:path';
import * as vscode from 'vscode';
import { type Context, refresh } from './context';
import { type TaskLine, serverCommand } from './protocol';
import { Unavailable } from './server';
import { placeOf, renameTask, topOf } from './places';

/** Tasks that need no more words, and beginnings of those that do. */
const FORMS: { label: string; detail: string; isWhole: boolean }[] = [
  { label: 'fix warnings', detail: 'what the compiler can mend, to a fixpoint', isWhole: true },
  { label: 'fix clippy', detail: 'what clippy can mend, to a fixpoint', isWhole: true },
  { label: 'fix errors', detail: 'imports, match arms, fields and what the compiler suggests', isWhole: true },
  { label: 'rename SYMBOL to NEW', detail: 'by meaning: doc links and doc tests included', isWhole: false },
  { label: 'replace PATTERN ==>> TEMPLATE', detail: 'by structure and type, with $placeholders', isWhole: false },
];

export async function newTask(context: Context): Promise<void> {
  const folder = await chooseFolder(context);
  const description = folder === undefined ? undefined : await askForTask();
  if (folder !== undefined && description !== undefined) await create(context, { description, folder });
}

export async function proveChanges(context: Context): Promise<void> {
  const folder = await chooseFolder(context);
  if (folder !== undefined) await create(context, { description: 'prove my changes', folder, worktree: true });
}

/** What is to be renamed: a symbol at `PATH:LINE:COLUMN`. */
interface Target {
  symbol: string;
  at: string;
  folder: string;
}

/** At the cursor. */
export async function renameSymbol(context: Context): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const folder = editor === undefined ? undefined : vscode.workspace.getWorkspaceFolder(editor.document.uri)?.uri.fsPath;
  const range = editor?.document.getWordRangeAtPosition(editor.selection.active);
  if (editor === undefined || folder === undefined || range === undefined) {
    throw new Error('Put the cursor on a name in a file of the workspace first.');
  }
  const { document } = editor;
  const { line, character } = range.start;
  const before = document.getText(new vscode.Range(line, 0, line, character));
  const at = placeOf(relative(topOf(folder), document.uri.fsPath), line, before);
  await rename(context, { symbol: document.getText(range), at, folder });
}

/** Asks for the new name and starts the task. */
export async function rename(context: Context, argument: unknown): Promise<void> {
  ready(context);
  const { symbol, at, folder } = argument as Target;
  const name = await vscode.window.showInputBox({
    title: `Rename ${symbol} everywhere, and prove it`,
    prompt: 'The new name. Nothing changes before you apply the diff.',
    value: symbol,
    validateInput: (value) => (/^(r#)?[\p{L}_][\p{L}\p{N}_]*$/u.test(value.trim()) ? undefined : 'This is not a name.'),
  });
  if (name === undefined || name.trim() === symbol) return;
  await create(context, { description: renameTask(symbol, at, name.trim()), folder });
}

/** A task from one of the answers that a question offers. */
export async function answer(context: Context, task: TaskLine, option: string): Promise<void> {
  await create(context, { description: option, folder: task.folder });
}

/** The options of a question, each of which is a task. */
export async function chooseAnswer(context: Context, task: TaskLine): Promise<void> {
  const { text = '', options = [] } = task.question ?? {};
  const option = await vscode.window.showQuickPick(options, { title: task.title, placeHolder: text });
  if (option !== undefined) await answer(context, task, option);
}

async function create(context: Context, argument: { description: string; folder: string; worktree?: boolean }): Promise<void> {
  const request = { ...argument, request_id: crypto.randomUUID() };
  const { task } = await context.server.call<{ task: string }>(serverCommand.create, request);
  if (context.tasks.get(task) === undefined) await refresh(context);
}

function ready(context: Context): void {
  if (context.server.problem !== undefined) throw new Unavailable(context.server.problem);
}

/** The only folder, the one of the active document, or a choice. */
async function chooseFolder(context: Context): Promise<string | undefined> {
  ready(context);
  const folders = vscode.workspace.workspaceFolders?.filter((folder) => folder.uri.scheme === 'file') ?? [];
  const document = vscode.window.activeTextEditor?.document;
  const active = document === undefined ? undefined : vscode.workspace.getWorkspaceFolder(document.uri);
  const only = folders.length === 1 ? folders[0] : active;
  if (folders.length === 0) throw new Error('Open a folder first.');
  return (only ?? (await vscode.window.showWorkspaceFolderPick({ placeHolder: 'In which folder?' })))?.uri.fsPath;
}

/** Free text, with the forms that the compiler understands as proposals below it. */
async function askForTask(): Promise<string | undefined> {
  const pick = vscode.window.createQuickPick();
  pick.title = 'Understudy: New Task';
  pick.placeholder = 'What should be done? Nothing changes before you apply the diff.';
  const forms = FORMS.map(({ label, detail }) => ({ label, detail, alwaysShow: true }));
  pick.items = forms;
  pick.onDidChangeValue((value) => {
    const typed = value.trim();
    const others = forms.filter(({ label }) => label !== typed);
    const hasGaps = FORMS.some(({ label, isWhole }) => label === typed && !isWhole);
    const detail = hasGaps ? 'write what you mean where the capitals are' : 'start this task';
    pick.items = typed === '' ? forms : [{ label: typed, detail, alwaysShow: true }, ...others];
  });
  try {
    return await new Promise<string | undefined>((resolve) => {
      pick.onDidAccept(() => {
        const chosen = pick.selectedItems[0]?.label ?? pick.value.trim();
        const form = FORMS.find(({ label }) => label === chosen);
        // A form with gaps is not a task yet: it goes into the input to be completed.
        if (form?.isWhole === false) pick.value = chosen;
        else if (chosen !== '') resolve(chosen);
      });
      pick.onDidHide(() => {
        resolve(undefined);
      });
      pick.show();
    });
  } finally {
    pick.dispose();
  }
}
