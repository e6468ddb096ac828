// Addresses of texts that exist in no file: `understudy:/TASK/TREE/PATH` names one file of an immutable tree.

export const SCHEME = 'understudy';

/** One file of one tree of one task. */
export interface Address {
  task: string;
  tree: string;
  /** Relative to the folder of the task, `/`-separated. */
  path: string;
}

/** The path of the address, decoded, as editors hold it; the scheme is [`SCHEME`]. */
export function pathOf(address: Address): string {
  return `/${address.task}/${address.tree}/${address.path}`;
}

/** Reads such a path; undefined where it is none. */
export function addressOf(path: string): Address | undefined {
  const parts = path.split('/');
  const [empty, task, tree, ...rest] = parts;
  if (empty !== '' || !task || !tree || rest.length === 0 || rest.some((part) => part === '')) {
    return undefined;
  }
  return { task, tree, path: rest.join('/') };
}

/** How a tree is named to people: long enough to tell trees apart, short enough to read. */
export function short(tree: string): string {
  return tree.slice(0, 8);
}
