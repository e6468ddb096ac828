// Text of others (titles, names of tests, paths) that an editor would read as more than text.

/** For messages, which make links of `[label](command:...)`: such a text could carry out a command at a click. */
export function plain(text: string): string {
  return text.replaceAll('](', '] (');
}

/** For the status bar, lenses and lists, which make icons of `$(name)`. */
export function iconless(text: string): string {
  return text.replaceAll('$(', '$ (');
}
