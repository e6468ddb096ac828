// The ids of the extension's commands. Those of the server are others, because the language client registers them itself.

/** Commands of the palette. */
export const PALETTE = [
  'understudy.newTask',
  'understudy.proveChanges',
  'understudy.reviewTask',
  'understudy.applyTask',
  'understudy.undoTask',
  'understudy.answerTask',
  'understudy.openPlan',
  'understudy.approvePlan',
  'understudy.steerTask',
  'understudy.raiseLimits',
  'understudy.tryAgain',
  'understudy.explainCode',
  'understudy.cancelTask',
  'understudy.resumeTask',
  'understudy.forgetTask',
  'understudy.checkKept',
  'understudy.showTasks',
  'understudy.runDoctor',
  'understudy.renameSymbol',
  // At the cursor of a review, where a lens does not say which.
  'understudy.keepHunks',
  'understudy.rejectHunks',
  'understudy.restartServer',
  'understudy.showLog',
] as const;

/** Commands that only make sense on something that is shown: a check, a node of the view. */
export const INNER = [
  'understudy.checkAgain',
  'understudy.showReceipt',
  'understudy.compareWithBase',
  'understudy.openNode',
  // Called by a code action of the server, which leaves it to the client to ask for the name.
  'understudy.client.rename',
  // And for the question.
  'understudy.client.explain',
] as const;

export type CommandId = (typeof PALETTE)[number] | (typeof INNER)[number];
