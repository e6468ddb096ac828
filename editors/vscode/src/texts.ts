// Read-only documents for texts that were fetched to be read: receipts, comparisons, what the doctor says.

import * as vscode from 'vscode';

const TEXT_SCHEME = 'understudy-text';

export class Texts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #registration = vscode.workspace.registerTextDocumentContentProvider(TEXT_SCHEME, this);
  readonly onDidChange = this.#changed.event;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.path) ?? '';
  }

  /** Shows a text under a title, in place of an earlier one of the same title. */
  async show(title: string, text: string): Promise<void> {
    await vscode.window.showTextDocument(this.#keep(title, text), { preview: true });
  }

  /** The same for Markdown, rendered where the editor can. */
  async showMarkdown(title: string, text: string): Promise<void> {
    const uri = this.#keep(`${title}.md`, text);
    try {
      await vscode.commands.executeCommand('markdown.showPreview', uri);
    } catch {
      await vscode.window.showTextDocument(uri, { preview: true });
    }
  }

  #keep(title: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: TEXT_SCHEME, path: `/${title.replaceAll('/', ' ')}` });
    this.#texts.set(uri.path, text);
    this.#changed.fire(uri);
    return uri;
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}
