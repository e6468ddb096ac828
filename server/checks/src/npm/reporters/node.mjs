// Tells what `node --test` found and what became of it, one JSON object a line. Each test file runs in a process of its
// own; this is loaded by the one that started them, which alone can write to the report.
import path from 'node:path';

const line = (object) => `${JSON.stringify(object)}\n`;

const told = (error) => {
  const cause = error?.cause && typeof error.cause === 'object' ? error.cause : error;
  const text = (value) => (typeof value === 'string' ? value : '');
  const message = text(cause?.message) || text(error?.cause) || text(error?.message) || String(error ?? 'it failed');
  return { message, stack: text(cause?.stack) || text(error?.stack) };
};

// The error among what a process printed before it ended, else all of it.
const reason = (said) => {
  const lines = said.trim().split('\n');
  const from = lines.findIndex((text) => /^(Uncaught )?[A-Za-z]*Error\b/.test(text));
  if (from < 0) return said;
  const length = lines.slice(from).findIndex((text) => text.startsWith('    at '));
  return lines.slice(from, length < 0 ? undefined : from + length).join('\n');
};

export default async function* report(events) {
  const files = new Map();
  const counts = { passed: 0, failed: 0, ignored: 0 };
  const file = (name) => {
    if (!files.has(name)) files.set(name, { path: [], open: 0, failed: 0, said: '', ended: undefined, broken: false });
    return files.get(name);
  };
  for await (const { type, data } of events) {
    if (!data?.file) continue;
    // Some events name it relative to the folder.
    const state = file(path.resolve(data.file));
    const isFile = data.nesting === 0 && data.name !== undefined && path.resolve(data.name) === path.resolve(data.file);
    if (type === 'test:stderr') {
      state.said = (state.said + data.message).slice(-4000);
    } else if (isFile) {
      if (type === 'test:complete' || type === 'test:fail') {
        if (data.details?.passed === false || type === 'test:fail') state.ended = told(data.details?.error);
      }
    } else if (type === 'test:enqueue') {
      state.open += 1;
      // What is listed is told when its path is known; that something was announced is known now.
    } else if (type === 'test:start') {
      state.path[data.nesting] = data.name;
    } else if (type === 'test:pass' || type === 'test:fail') {
      state.open -= 1;
      const names = [...state.path.slice(0, data.nesting), data.name];
      const passed = type === 'test:pass';
      const ignored = data.skip !== undefined || data.todo !== undefined;
      const kind = data.details?.error?.failureType;
      if (data.details?.type === 'suite') {
        // A suite is its tests; only what went wrong beside them is its own.
        if (!passed && kind !== 'subtestsFailed') {
          state.failed += 1;
          yield line({ kind: 'broken', file: data.file, names, ...told(data.details?.error) });
        }
        continue;
      }
      const said = ignored ? 'ignored' : passed ? 'passed' : 'failed';
      counts[said] += 1;
      if (said === 'failed') state.failed += 1;
      const why = said === 'failed' ? told(data.details?.error) : {};
      yield line({ kind: 'result', file: data.file, names, said, line: data.line, ...why });
    }
  }
  for (const [name, state] of files) {
    if (state.open > 0) {
      yield line({ kind: 'broken', file: name, message: `${state.open} of its tests gave no result`, stack: state.said });
    } else if (state.ended && state.failed === 0) {
      yield line({ kind: 'broken', file: name, message: reason(state.said) || state.ended.message, stack: state.said });
    }
  }
  yield line({ kind: 'end', ...counts });
}
