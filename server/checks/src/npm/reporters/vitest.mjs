// Tells what vitest collected and what became of it, one JSON object a line, when the run is over. Tests run in other
// processes than this.
import fs from 'node:fs';

const REPORT = '/proc/self/fd/9';

export default class {
  onInit(vitest) {
    this.vitest = vitest;
  }

  // Vitest 3 and later.
  onTestRunEnd(modules, errors) {
    this.tell(modules.map((module) => module.task ?? module), errors);
  }

  // Before that.
  onFinished(files, errors) {
    this.tell(files ?? [], errors);
  }

  tell(files, errors) {
    if (this.told) return;
    this.told = true;
    const lines = [];
    const counts = { passed: 0, failed: 0, ignored: 0 };
    const told = (errors) => {
      const error = errors?.[0] ?? {};
      const message = [error.message, error.diff].filter((part) => typeof part === 'string' && part).join('\n');
      return { message: message || 'it failed', stack: typeof error.stack === 'string' ? error.stack : '' };
    };
    const walk = (task, file, names) => {
      const state = task.result?.state;
      if (task.type === 'suite') {
        const inner = task.tasks ?? [];
        const failing = (task) =>
          task.result?.state === 'fail' && (task.type !== 'suite' || task.result.errors?.length > 0 || task.tasks.some(failing));
        if (state === 'fail' && (task.result.errors?.length > 0 || !inner.some(failing))) {
          lines.push({ kind: 'broken', file, names, ...told(task.result.errors) });
        }
        for (const each of inner) walk(each, file, [...names, each.name]);
        return;
      }
      lines.push({ kind: 'listed', file, names });
      const ignored = ['skip', 'todo'].includes(task.mode) || state === 'skip' || state === 'todo';
      const said = ignored ? 'ignored' : state === 'pass' ? 'passed' : state === 'fail' ? 'failed' : undefined;
      if (said === undefined) return;
      counts[said] += 1;
      const why = said === 'failed' ? told(task.result.errors) : {};
      lines.push({ kind: 'result', file, names, said, ...why });
    };
    for (const file of files) {
      const names = file.projectName ? [file.projectName] : [];
      walk(file, file.filepath, names);
    }
    for (const error of errors ?? []) lines.push({ kind: 'broken', ...told([error]) });
    lines.push({ kind: 'end', ...counts });
    fs.writeFileSync(REPORT, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
}
