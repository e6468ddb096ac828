// The editor's own language models, lent to tasks of the server where the user's settings there say so.

import * as vscode from 'vscode';
import { collect, faultOf } from './answers';
import { type ModelAnswer, type ModelBlock, type ModelCall, method } from './protocol';
import type { Lender, Server } from './server';

/** Tokens of an answer at most: the editor does not say what its models can. */
const MOST_OUTPUT = 4096;

export class LentModels implements Lender, vscode.Disposable {
  readonly #server: Server;
  readonly #calls = new Map<number, vscode.CancellationTokenSource>();
  readonly #parts: vscode.Disposable[] = [];

  constructor(server: Server) {
    this.#server = server;
    // Editors that are built from the same source may not have it.
    if (!hasModels()) return;
    server.lender = this;
    const announce = () => void this.#announce();
    this.#parts.push(server.onStarted(announce), vscode.lm.onDidChangeChatModels(announce));
  }

  dispose(): void {
    for (const call of this.#calls.values()) call.cancel();
    for (const part of this.#parts) part.dispose();
  }

  over(id: number): void {
    this.#calls.get(id)?.cancel();
  }

  async answer(call: ModelCall, token: vscode.CancellationToken): Promise<ModelAnswer> {
    const cancel = new vscode.CancellationTokenSource();
    token.onCancellationRequested(() => {
      cancel.cancel();
    });
    this.#calls.set(call.id, cancel);
    try {
      const model = await chosen();
      if (model === undefined) return { fault: { sentence: 'The editor has no language model to lend.', kind: 'refused', sent: false } };
      return await this.#ask(model, call, cancel.token);
    } catch (error) {
      return { fault: faultOf(error) };
    } finally {
      this.#calls.delete(call.id);
      cancel.dispose();
    }
  }

  async #ask(model: vscode.LanguageModelChat, call: ModelCall, token: vscode.CancellationToken): Promise<ModelAnswer> {
    const tools = call.tools.map(({ name, description, parameters }) => ({ name, description, inputSchema: parameters }));
    const options: vscode.LanguageModelChatRequestOptions = {
      justification: 'Understudy carries out a task that you gave it.',
      modelOptions: { max_tokens: call.max_output },
      tools,
    };
    const response = await model.sendRequest(messagesOf(call), options, token);
    const blocks: ModelBlock[] = [];
    for await (const part of response.stream) {
      if (part instanceof vscode.LanguageModelTextPart) {
        collect(blocks, { kind: 'text', text: part.value });
        this.#server.tell(method.modelText, { id: call.id, text: part.value });
      } else if (part instanceof vscode.LanguageModelToolCallPart) {
        collect(blocks, { kind: 'tool_call', id: part.callId, name: part.name, arguments: part.input });
      }
    }
    return { blocks, model: model.id };
  }

  async #announce(): Promise<void> {
    const model = await chosen().catch(() => undefined);
    const window = model?.maxInputTokens ?? 0;
    const models = model === undefined || window <= MOST_OUTPUT ? null : { name: model.id, window, max_output: MOST_OUTPUT };
    this.#server.tell(method.models, { models });
  }
}

function hasModels(): boolean {
  const { lm } = vscode as { lm?: { selectChatModels?: unknown; onDidChangeChatModels?: unknown } };
  return typeof lm?.selectChatModels === 'function' && typeof lm.onDidChangeChatModels === 'function';
}

/** The model that the setting names, else the first. */
async function chosen(): Promise<vscode.LanguageModelChat | undefined> {
  const wanted = vscode.workspace.getConfiguration('understudy').get<string>('lentModel', '');
  const models = await vscode.lm.selectChatModels();
  return wanted === '' ? models[0] : models.find(({ id, family }) => id === wanted || family === wanted);
}

/** There is no role for instructions, so they come first. */
function messagesOf(call: ModelCall): vscode.LanguageModelChatMessage[] {
  const { LanguageModelChatMessage: Message } = vscode;
  const messages = call.messages.map(({ role, blocks }) => {
    const isUser = role === 'user';
    const user: (vscode.LanguageModelTextPart | vscode.LanguageModelToolResultPart)[] = [];
    const assistant: (vscode.LanguageModelTextPart | vscode.LanguageModelToolCallPart)[] = [];
    for (const block of blocks) {
      if (block.kind === 'tool_call') assistant.push(new vscode.LanguageModelToolCallPart(block.id, block.name, block.arguments));
      else if (block.kind === 'tool_result') user.push(new vscode.LanguageModelToolResultPart(block.id, [new vscode.LanguageModelTextPart(block.text)]));
      else (isUser ? user : assistant).push(new vscode.LanguageModelTextPart(block.text));
    }
    return isUser ? Message.User(user) : Message.Assistant(assistant);
  });
  return [Message.User(call.system), ...messages];
}
