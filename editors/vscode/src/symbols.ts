// The task text for a rename at the cursor.

export interface Place {
  symbol: string;
  /** Relative to the folder. */
  path: string;
  /** From 0, as editors count. */
  line: number;
  /** The text of the line before the symbol. */
  before: string;
  name: string;
}

/** Lines and columns of a task text count from 1, and columns in characters, not in the UTF-16 units of an editor. */
export function renameTask({ symbol, path, line, before, name }: Place): string {
  const column = Array.from(before).length + 1;
  return `rename ${symbol} at ${path}:${line + 1}:${column} to ${name}`;
}
