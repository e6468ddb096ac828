// The server's request to save documents that were clean before it edited them.

import * as vscode from 'vscode';

/** Answers which documents stayed unsaved. A document that is not open, or already saved, counts as saved. */
export async function saveAll(uris: readonly string[]): Promise<{ unsaved: string[] }> {
  const unsaved: string[] = [];
  for (const uri of uris) {
    const wanted = vscode.Uri.parse(uri).toString();
    const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === wanted);
    if (document?.isDirty && !(await saved(document))) unsaved.push(uri);
  }
  return { unsaved };
}

async function saved(document: vscode.TextDocument): Promise<boolean> {
  try {
    return await document.save();
  } catch {
    return false;
  }
}
