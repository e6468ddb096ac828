// Texts made of what the server or a model answered. Pure, for tests.

import type { Explanation, ModelAnswer, ModelBlock } from './protocol';

/** An answer about code as Markdown, each citation with a link to its lines. */
export function answerPage(question: string, answer: Explanation): string {
  const cited = answer.citations.map(({ path, first_line, last_line, text, uri }) => {
    const place = `${path}:${first_line}-${last_line}`;
    const fence = '`'.repeat(Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
    return `${uri === null ? place : `[${place}](${uri}#L${first_line})`}\n\n${fence}\n${text.trimEnd()}\n${fence}`;
  });
  const odd = answer.unfounded.map((sentence) => `* not founded: ${sentence}`);
  const parts = [`# ${question.trim().replaceAll('\n', ' ')}`, answer.text.trim(), ...cited, odd.join('\n'), `*${answer.model}*`];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
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
