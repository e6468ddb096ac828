// Files of the trees of tasks, as a file system that can be read and never written.
//
// A file system and not a provider of texts, because an editor that restores a review after a reload starts the extension for
// the one and shows nothing for the other.

import * as vscode from 'vscode';
import { type Address, SCHEME, addressOf, partsOf, protocolPath } from './addresses';
import type { Server } from './server';

/** Files that are held: more than a review shows at once, so that a look and a second one ask the server once. */
const MOST_HELD = 100;

export function uriOf(address: Address): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEME, ...partsOf(address) });
}

export class TreeFiles implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #server: Server;
  /** A tree never changes, so what was once read stays true. */
  readonly #held = new Map<string, Promise<Uint8Array>>();
  readonly #failed = new Map<string, vscode.Uri>();
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly #parts: { dispose(): unknown }[];
  readonly onDidChangeFile = this.#changed.event;

  constructor(server: Server) {
    this.#server = server;
    this.#parts = [
      vscode.workspace.registerFileSystemProvider(SCHEME, this, { isReadonly: true, isCaseSensitive: true }),
      server.onStarted(() => {
        const failed = [...this.#failed.values()];
        this.#failed.clear();
        if (failed.length > 0) this.#changed.fire(failed.map((uri) => ({ type: vscode.FileChangeType.Changed, uri })));
      }),
      this.#changed,
    ];
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { byteLength: size } = await this.readFile(uri);
    return { type: vscode.FileType.File, ctime: 0, mtime: 0, size, permissions: vscode.FilePermission.Readonly };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const key = uri.toString();
    const held = this.#held.get(key);
    if (held !== undefined) return held;
    const reading = this.#read(uri);
    this.#held.set(key, reading);
    const oldest = this.#held.keys().next();
    if (this.#held.size > MOST_HELD && oldest.done !== true) this.#held.delete(oldest.value);
    reading.catch(() => {
      this.#held.delete(key);
      this.#failed.set(key, uri);
    });
    return reading;
  }

  async #read(uri: vscode.Uri): Promise<Uint8Array> {
    const address = addressOf(uri);
    if (address === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    await this.#server.ready().catch((error: unknown) => {
      throw vscode.FileSystemError.Unavailable(error instanceof Error ? error.message : uri);
    });
    const asked = vscode.Uri.from({ scheme: SCHEME, path: protocolPath(address) });
    const { text, binary } = await this.#server.document(asked.toString());
    if (text === null && !binary) throw vscode.FileSystemError.FileNotFound(uri);
    return new TextEncoder().encode(text ?? '(not text)\n');
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  writeFile(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    for (const part of this.#parts) part.dispose();
  }
}
