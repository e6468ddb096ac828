// The server's process and the connection to it. Everything else asks the server through `Server`.

import * as vscode from 'vscode';
import {
  LanguageClient,
  type LanguageClientOptions,
  ResponseError,
  RevealOutputChannelOn,
  State,
} from 'vscode-languageclient/node';
import { findProgram } from './binary';
import { type ModelAnswer, type ModelCall, PROTOCOL, type ServerCommand, type TaskLine, type TreeDocument, method } from './protocol';
import { saveAll } from './save';

/** The server cannot be asked; the message says why and what to do. */
export class Unavailable extends Error {}

const NOT_YET = 'The server has not started yet.';
/** Milliseconds after which a document says that it cannot be had. */
const LONGEST_START = 15_000;
const RESTRICTED = 'This workspace is not trusted, so Understudy does not start here. Trust it to use Understudy.';

export interface Lender {
  answer(call: ModelCall, token: vscode.CancellationToken): Promise<ModelAnswer>;
  over(id: number): void;
}

export class Server implements vscode.Disposable {
  readonly #output = vscode.window.createOutputChannel('Understudy', { log: true });
  readonly #started = new vscode.EventEmitter<void>();
  readonly #taskChanged = new vscode.EventEmitter<TaskLine>();
  readonly #problemChanged = new vscode.EventEmitter<void>();
  readonly #extension: string;
  /** Carries out a command of the server that a code action calls, when this client has a way of its own for it. */
  route: (command: string, argument: unknown) => Promise<unknown> | undefined = () => undefined;
  /** Answers for the models that the editor lends. */
  lender: Lender | undefined;
  #client: LanguageClient | undefined;
  #problem: string | undefined = NOT_YET;

  /** Fires whenever a server is ready, after a restart too: what was known may be old. */
  readonly onStarted = this.#started.event;
  readonly onTaskChanged = this.#taskChanged.event;
  readonly onProblemChanged = this.#problemChanged.event;

  constructor(extension: string) {
    this.#extension = extension;
  }

  /** Why there is no server; undefined while there is one. */
  get problem(): string | undefined {
    return this.#problem;
  }

  async start(): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      this.#setProblem(RESTRICTED);
      return;
    }
    const found = findProgram({
      setting: vscode.workspace.getConfiguration('understudy').get('path', ''),
      extension: this.#extension,
      isTrusted: vscode.workspace.isTrusted,
      path: process.env['PATH'] ?? '',
    });
    if ('problem' in found) {
      this.#setProblem(found.problem);
      return;
    }
    this.#output.info(`starting ${found.program} lsp`);
    const client = new LanguageClient('understudy', 'Understudy', { command: found.program, args: ['lsp'] }, this.#options());
    this.#client = client;
    client.onNotification(method.taskChanged, (line: TaskLine) => {
      this.#taskChanged.fire(line);
    });
    client.onNotification(method.modelOver, ({ id }: { id: number }) => {
      this.lender?.over(id);
    });
    client.onRequest(method.model, (call: ModelCall, token: vscode.CancellationToken) => this.lender?.answer(call, token));
    client.onRequest(method.save, (params: { uris: string[] }) => saveAll(params.uris));
    client.onDidChangeState(({ newState }) => {
      this.#entered(client, newState);
    });
    await client.start().catch((error: unknown) => {
      this.#setProblem(`The server did not start: ${messageOf(error)}`);
    });
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  dispose(): void {
    for (const part of [this.#started, this.#taskChanged, this.#problemChanged, this.#output]) part.dispose();
  }

  /** The server is asked to go and gets two seconds for it. */
  async stop(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    if (client?.needsStop()) await client.stop(2000).catch(() => undefined);
  }

  showLog(): void {
    this.#output.show(true);
  }

  /** Waits for a server that is starting; fails at once where none can be had. */
  async ready(): Promise<void> {
    if (this.#problem === undefined) return;
    if (this.#client === undefined && this.#problem !== NOT_YET) throw new Unavailable(this.#problem);
    await new Promise<void>((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        started.dispose();
      };
      const timer = setTimeout(() => {
        end();
        reject(new Unavailable(this.#problem ?? 'The server is starting.'));
      }, LONGEST_START);
      const started = this.onStarted(() => {
        end();
        resolve();
      });
    });
  }

  /** One command of the server. */
  async call<Answer>(command: ServerCommand, argument: object, cancel?: vscode.CancellationToken): Promise<Answer> {
    const params = { command, arguments: [argument] };
    const client = this.#ready();
    // An absent token would be taken for a second parameter.
    return cancel === undefined ? client.sendRequest<Answer>('workspace/executeCommand', params) : client.sendRequest<Answer>('workspace/executeCommand', params, cancel);
  }

  /** Tells the server something; where there is none, nobody wants to know. */
  tell(name: string, params: object): void {
    if (this.#client?.state === State.Running) void this.#client.sendNotification(name, params).catch(() => undefined);
  }

  /** One file of a tree of a task. */
  async document(uri: string): Promise<TreeDocument> {
    return this.#ready().sendRequest<TreeDocument>(method.document, { uri });
  }

  #ready(): LanguageClient {
    if (this.#client?.state !== State.Running) throw new Unavailable(this.#problem ?? 'The server is starting.');
    return this.#client;
  }

  #options(): LanguageClientOptions {
    const settings = vscode.workspace.getConfiguration('understudy');
    const limits = { timeout: settings.get('timeout'), check_timeout: settings.get('checkTimeout'), max_attempts: settings.get('maxAttempts') };
    const said = Object.fromEntries(Object.entries(limits).filter(([, value]) => typeof value === 'number'));
    return {
      documentSelector: [{ scheme: 'file' }],
      initializationOptions: { understudy: { protocol: PROTOCOL, ...said } },
      outputChannel: this.#output,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      // State is shown in the status bar and the view; a second spinner beside them would say the same.
      middleware: {
        handleWorkDoneProgress: () => undefined,
        executeCommand: (command, values: unknown[], next): unknown =>
          this.route(command, values[0]) ?? next(command, values),
      },
    };
  }

  #entered(client: LanguageClient, state: State): void {
    if (client !== this.#client) return;
    if (state === State.Running) {
      this.#setProblem(speaks(client) ? undefined : 'This server is older than the extension; update it.');
      if (this.#problem === undefined) this.#started.fire();
    } else {
      this.#setProblem(state === State.Starting ? 'The server is starting.' : 'The server has stopped. Restart it.');
    }
  }

  #setProblem(problem: string | undefined): void {
    if (problem !== undefined) this.#output.info(problem);
    this.#problem = problem;
    this.#problemChanged.fire();
  }
}

/** Whether the server answered in the protocol of this client. */
function speaks(client: LanguageClient): boolean {
  const experimental = client.initializeResult?.capabilities.experimental as { understudy?: { protocol?: number } } | undefined;
  return experimental?.understudy?.protocol === PROTOCOL;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function codeOf(error: unknown): number | undefined {
  return error instanceof ResponseError ? error.code : undefined;
}
