// Tells what jest found and what became of it, one JSON object a line, when the run is over.
const fs = require('node:fs');

const REPORT = '/proc/self/fd/9';

module.exports = class {
  onRunComplete(_contexts, results) {
    const lines = [];
    const counts = { passed: 0, failed: 0, ignored: 0 };
    for (const suite of results.testResults ?? []) {
      const file = suite.testFilePath;
      const error = suite.testExecError;
      let failed = 0;
      for (const test of suite.testResults ?? []) {
        const names = [...test.ancestorTitles, test.title];
        const said = { passed: 'passed', failed: 'failed' }[test.status] ?? 'ignored';
        counts[said] += 1;
        failed += said === 'failed' ? 1 : 0;
        const stack = said === 'failed' ? (test.failureMessages ?? []).join('\n') : '';
        lines.push({ kind: 'listed', file, names });
        lines.push({ kind: 'result', file, names, said, message: stack.split(/\n\s+at /)[0], stack });
      }
      if (error || (failed === 0 && suite.failureMessage)) {
        const stack = error?.stack ?? suite.failureMessage ?? '';
        const message = error?.message || suite.failureMessage || 'it could not be run';
        lines.push({ kind: 'broken', file, message, stack });
      }
    }
    if (results.runExecError) lines.push({ kind: 'broken', message: results.runExecError.message, stack: '' });
    if (results.wasInterrupted) lines.push({ kind: 'broken', message: 'the run was interrupted', stack: '' });
    lines.push({ kind: 'end', ...counts });
    fs.writeFileSync(REPORT, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
};
