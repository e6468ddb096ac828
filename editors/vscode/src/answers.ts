// Texts made of what the server or a model answered. Pure, for tests.

import { posix } from 'node:path';
import type { Explanation, ModelAnswer, ModelBlock } from './protocol';

/**
 * An answer about code as Markdown, each citation with a link to its lines.
 *
 * @param root URI of the first folder of the workspace. In a document that is no file, the editor's preview follows links that
 * begin with a slash, from there, and none to `file:`.
 */
export function answerPage(question: string, answer: Explanation, root: string | undefined): string {
  const cited = answer.citations.map(({ path, first_line, last_line, text, uri }) => {
    const place = inline(`${path}:${first_line}-${last_line}`);
    const link = uri === null || root === undefined ? undefined : linkFrom(root, uri);
    const fence = '`'.repeat(Math.max(2, longestRun(text)) + 1);
    return `${link === undefined ? place : `[${place}](${link}#L${first_line})`}\n\n${fence}\n${text.trimEnd()}\n${fence}`;
  });
  const odd = answer.unfounded.map((sentence) => `* not founded: ${sentence}`);
  const parts = [`# ${question.trim().replaceAll('\n', ' ')}`, answer.text.trim(), ...cited, odd.join('\n'), `*${answer.model}*`];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}

/** Text that Markdown leaves as it is. */
function inline(text: string): string {
  const ticks = '`'.repeat(longestRun(text) + 1);
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return ticks + pad + text + pad + ticks;
}

function linkFrom(root: string, uri: string): string {
  const [from, to] = [root, uri].map((it) => decodeURIComponent(new URL(it).pathname));
  const names = posix.relative(from ?? '', to ?? '').split('/');
  return `/${names.map((name) => encodeURIComponent(name).replaceAll('(', '%28').replaceAll(')', '%29')).join('/')}`;
}

/** Puts the answer of a lent model together from what it says, in order; texts that follow each other are one. */
export function collect(blocks: ModelBlock[], next: ModelBlock): void {
  const last = blocks.at(-1);
  if (next.kind === 'text' && last?.kind === 'text') last.text += next.text;
  else blocks.push({ ...next });
}

/**
 * What follows from an error of a lent model. Where the editor says that no model was asked, nothing is charged; what is not
 * known may be over after a while.
 */
export function faultOf(error: unknown): NonNullable<ModelAnswer['fault']> {
  const sentence = error instanceof Error ? error.message : String(error);
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  if (['NoPermissions', 'NotFound'].includes(code)) return { sentence, kind: 'refused', sent: false };
  if (code === 'Blocked') return { sentence, kind: 'refused', sent: true };
  if (/token|context|too long|exceed/i.test(sentence)) return { sentence, kind: 'overflow', sent: true };
  return { sentence, kind: 'passing', sent: true };
}
