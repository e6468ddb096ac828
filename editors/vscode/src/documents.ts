// Read-only documents: files of a task's trees, and texts such as receipts.

import * as vscode from 'vscode';
import { type Address, SCHEME, addressOf, partsOf, protocolPath } from './addresses';
import type { Server } from './server';

export function uriOf(address: Address): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEME, ...partsOf(address) });
}

/** Files of trees. A tree never changes, so a text is asked for again only where it could not be had. */
export class TreeDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #server: Server;
  readonly #failed = new Map<string, vscode.Uri>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #parts: { dispose(): unknown }[];
  readonly onDidChange = this.#changed.event;

  constructor(server: Server) {
    this.#server = server;
    this.#parts = [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      server.onStarted(() => {
        this.#askAgain();
      }),
      this.#changed,
    ];
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const address = addressOf(uri);
    if (address === undefined) return '';
    try {
      const asked = vscode.Uri.from({ scheme: SCHEME, path: protocolPath(address) });
      const { text, binary } = await this.#server.document(asked.toString());
      if (binary) return '(not text)\n';
      return text ?? '';
    } catch {
      this.#failed.set(uri.toString(), uri);
      return '(the server cannot be asked for this file now)\n';
    }
  }

  dispose(): void {
    for (const part of this.#parts) part.dispose();
  }

  #askAgain(): void {
    const failed = [...this.#failed.values()];
    this.#failed.clear();
    for (const uri of failed) this.#changed.fire(uri);
  }
}

const TEXT_SCHEME = 'understudy-text';

/** Texts that were fetched once to be read: receipts, comparisons, what the doctor says. */
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
    const uri = vscode.Uri.from({ scheme: TEXT_SCHEME, path: `/${title.replaceAll('/', ' ')}` });
    this.#texts.set(uri.path, text);
    this.#changed.fire(uri);
    await vscode.window.showTextDocument(uri, { preview: true });
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}
