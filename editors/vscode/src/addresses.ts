// Addresses of texts that exist in no file: one file of an immutable tree of a task.
//
// The protocol writes them `understudy:/TASK/TREE/PATH`. In the editor task and tree stand in the query instead, because an
// editor takes two sides with different paths for a renamed file, and shows the whole path.

export const SCHEME = 'understudy';

export interface Address {
  task: string;
  tree: string;
  /** Relative to the folder of the task, `/`-separated. */
  path: string;
}

/** The parts of a URI, decoded. */
export interface Parts {
  path: string;
  query: string;
}

/** The address as the editor holds it. */
export function partsOf(address: Address): Parts {
  return { path: `/${address.path}`, query: `${address.task}/${address.tree}` };
}

/** Reads what [`partsOf`] wrote; undefined where it is something else. */
export function addressOf({ path, query }: Parts): Address | undefined {
  const [task, tree, more] = query.split('/');
  const names = path.split('/').slice(1);
  if (!task || !tree || more !== undefined || !path.startsWith('/') || names.some((name) => name === '')) return undefined;
  return { task, tree, path: names.join('/') };
}

/** The path of the protocol's URI, not yet encoded. */
export function protocolPath(address: Address): string {
  return `/${address.task}/${address.tree}/${nameOf(address.path)}`;
}

/** The name of a file as it is on disk: reports double a backslash. */
export function nameOf(path: string): string {
  return path.replaceAll('\\\\', '\\');
}

/** How a tree is named to people: long enough to tell trees apart, short enough to read. */
export function short(tree: string): string {
  return tree.slice(0, 8);
}
