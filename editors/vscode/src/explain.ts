// Questions about the code, answered by a model with the lines that show it.

import * as vscode from 'vscode';
import { answerPage } from './answers';
import type { Context } from './context';
import { plain } from './plain';
import { type Explanation, serverCommand } from './protocol';

/** A question with the place it is asked at; `line` counts from 0. */
interface Asked {
  question?: string;
  folder?: string;
  uri?: string;
  line?: number;
}

/** At the cursor of whatever is open. */
export async function explainCode(context: Context): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const isFile = editor?.document.uri.scheme === 'file';
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file')?.uri.fsPath;
  const at = isFile ? { uri: editor.document.uri.toString(), line: editor.selection.start.line } : folder === undefined ? {} : { folder };
  await explain(context, at);
}

/** Lets the developer say what to ask, and shows the answer. */
export async function explain(context: Context, argument: unknown): Promise<void> {
  const { question: proposed = '', ...at } = (argument ?? {}) as Asked;
  const question = await vscode.window.showInputBox({
    title: 'Understudy: Explain',
    prompt: 'A question about this code. Files are read, nothing changes.',
    value: proposed,
  });
  if (question === undefined || question.trim() === '') return;
  const options = { location: vscode.ProgressLocation.Notification, title: plain(`Understudy: ${question}`), cancellable: true };
  const answer = await vscode.window.withProgress(options, async (_, cancel) => {
    try {
      return await context.server.call<Explanation>(serverCommand.explain, { question, ...at }, cancel);
    } catch (error) {
      if (cancel.isCancellationRequested) return undefined;
      throw error;
    }
  });
  const root = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (answer !== undefined) await context.texts.showMarkdown('Understudy Answer', answerPage(question, answer, root?.toString()));
}
