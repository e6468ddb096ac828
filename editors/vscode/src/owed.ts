// What a task of a model wants from the developer, and what they tell it: answers, the yes to its plan, guidance, more limits.

import * as vscode from 'vscode';
import { type Context, allows, chooseTask, refresh, revised } from './context';
import { plain } from './plain';
import { type Question, type TaskLine, serverCommand } from './protocol';
import type { Tasks } from './tasks';
import { dollars } from './words';

/** The plan that an approval is for. */
interface OnPlan {
  task: string;
  version: number;
}

/** Asks the developer one question after the other; all answers are sent together. */
export async function answerQuestions(context: Context, argument: unknown): Promise<void> {
  const task = await chooseTask(context, argument, 'answer', allows('answer'));
  if (task === undefined) return;
  // A message may stand longer than its question.
  if (!task.next.includes('answer')) throw new Error(`"${task.title}" asks nothing now.`);
  const answers: string[] = [];
  for (const [at, question] of task.questions.entries()) {
    const title = task.questions.length === 1 ? task.title : `${task.title} (${at + 1} of ${task.questions.length})`;
    const answer = await ask(title, question);
    if (answer === undefined) return;
    answers.push(answer);
  }
  await sendAnswers(context, task, answers);
}

export async function sendAnswers(context: Context, task: TaskLine, answers: string[]): Promise<void> {
  await revised(context, task.id, (now) => now.asked === task.asked, ({ id, revision, asked }) =>
    context.server.call(serverCommand.answer, { task: id, revision, answers, asked }),
  );
}

/** The options of a question, and whatever else is typed. */
async function ask(title: string, question: Question): Promise<string | undefined> {
  const pick = vscode.window.createQuickPick();
  pick.title = plain(title);
  pick.placeholder = plain([question.text, question.why ?? ''].filter((part) => part !== '').join(' '));
  pick.ignoreFocusOut = true;
  const options = question.options.map((label) => ({ label, alwaysShow: true }));
  pick.items = options;
  pick.onDidChangeValue((value) => {
    const typed = value.trim();
    const others = options.filter(({ label }) => label !== typed);
    pick.items = typed === '' ? options : [{ label: typed, alwaysShow: true }, ...others];
  });
  try {
    return await new Promise<string | undefined>((resolve) => {
      pick.onDidAccept(() => {
        const chosen = pick.selectedItems[0]?.label ?? pick.value.trim();
        if (chosen !== '') resolve(chosen);
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

/** Shows the plan as a document. Its text is the developer's: what is approved is what stands in it. */
export async function openPlan(context: Context, argument: unknown): Promise<void> {
  const task = await chooseTask(context, argument, 'show the plan of', (task) => task.plan !== null);
  if (task === undefined) return;
  const { path } = await context.server.call<{ path: string }>(serverCommand.openPlan, { task: task.id });
  await vscode.window.showTextDocument(vscode.Uri.file(path), { preview: false });
}

/** Approves the plan, as the developer edited it where its document is open. */
export async function approvePlan(context: Context, argument: unknown): Promise<void> {
  // From the title of an editor comes the document of a plan.
  const named = argument instanceof vscode.Uri ? planOf(argument) : argument;
  const task = await chooseTask(context, named, 'approve the plan of', allows('approve_plan'));
  if (task === undefined) return;
  const { plan } = task;
  // The yes is to the version that was looked at: a message and a document may be older than the plan.
  const version = versionOf(named) ?? plan?.version;
  const waits = (now: TaskLine) => now.plan?.version === version && now.next.includes('approve_plan');
  if (version === undefined || !waits(task)) throw new Error(`No plan of "${task.title}" waits for your yes in that version. Open its plan again.`);
  const document = vscode.workspace.textDocuments.find(({ uri }) => uri.path.endsWith(`/${documentOf(task)}`));
  const text = document?.getText();
  await revised(context, task.id, waits, ({ id, revision }) =>
    context.server.call(serverCommand.approvePlan, { task: id, revision, version, ...(text === undefined ? { document: true } : { text }) }),
  );
  // What was approved has been decided: its editor asks for nothing more when it is closed.
  if (document?.isDirty === true && document.getText() === text) await document.save();
}

/** A version of a plan of a task, as the name of its document says it. */
function planOf(document: vscode.Uri): OnPlan | undefined {
  const [, task, version] = /([^/]+)\.plan-(\d+)\.md$/.exec(document.path) ?? [];
  return task === undefined ? undefined : { task, version: Number(version) };
}

/** Offers the approval in the editors of those plans that wait for it. */
export function tellPlans(tasks: Tasks): void {
  const waiting = tasks.all().filter(({ next }) => next.includes('approve_plan'));
  void vscode.commands.executeCommand('setContext', 'understudy.plansThatWait', waiting.map(documentOf));
}

/** The name of the document of the plan that a task has now. */
function documentOf({ id, plan }: TaskLine): string {
  return `${id}.plan-${plan?.version ?? 0}.md`;
}

function versionOf(argument: unknown): number | undefined {
  if (typeof argument !== 'object' || argument === null || !('version' in argument)) return undefined;
  return typeof argument.version === 'number' ? argument.version : undefined;
}

/** Guidance for the next turn of a task that runs or waits. */
export async function steer(context: Context, argument: unknown): Promise<void> {
  const task = await chooseTask(context, argument, 'steer', allows('steer'));
  const text = task && (await vscode.window.showInputBox({ title: plain(`Steer "${task.title}"`), prompt: 'It reads this before its next turn.' }));
  if (task !== undefined && text !== undefined && text.trim() !== '') {
    await context.server.call(serverCommand.steer, { task: task.id, text });
  }
}

/** More of what a task may use; a limit never falls. */
export async function raiseLimits(context: Context, argument: unknown): Promise<void> {
  const task = await chooseTask(context, argument, 'give more', allows('raise'));
  if (task?.usage == null) return;
  const { max_microdollars, max_tokens, max_attempts } = task.usage;
  const choices: (vscode.QuickPickItem & { limits: object })[] = [];
  if (max_microdollars !== null) choices.push({ label: `${dollars(max_microdollars * 2)} in place of ${dollars(max_microdollars)}`, limits: { budget_usd: (max_microdollars * 2) / 1e6 } });
  if (max_tokens !== null) choices.push({ label: `${(max_tokens * 2).toLocaleString('en-US')} tokens in place of ${max_tokens.toLocaleString('en-US')}`, limits: { max_tokens: max_tokens * 2 } });
  if (max_attempts < 10) choices.push({ label: `${max_attempts + 1} attempts in place of ${max_attempts}`, limits: { max_iterations: max_attempts + 1 } });
  const chosen = await vscode.window.showQuickPick(choices, { title: plain(`More for "${task.title}"`) });
  if (chosen !== undefined) await context.server.call(serverCommand.raise, { task: task.id, limits: chosen.limits });
}

/** The same request once more, held to what was rejected of this one and to what the developer says now. */
export async function tryAgain(context: Context, argument: unknown): Promise<void> {
  const task = await chooseTask(context, argument, 'try again', allows('again'));
  if (task === undefined) return;
  const text = await vscode.window.showInputBox({
    title: plain(`Try "${task.title}" again`),
    prompt: 'What was wrong? Reasons that you rejected hunks for are known.',
  });
  if (text === undefined) return;
  await context.server.call(serverCommand.again, { task: task.id, because: text.trim() === '' ? [] : [text] });
  await refresh(context);
}
