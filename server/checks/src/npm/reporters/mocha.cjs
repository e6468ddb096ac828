// Tells what mocha found and what became of it, one JSON object a line. Tests run in the process of this.
const fs = require('node:fs');

const REPORT = '/proc/self/fd/9';

module.exports = class {
  constructor(runner) {
    const report = fs.openSync(REPORT, 'w');
    const counts = { passed: 0, failed: 0, ignored: 0 };
    const tell = (line) => fs.writeSync(report, `${JSON.stringify(line)}\n`);
    const id = (test) => ({ file: test.file ?? test.parent?.file, names: test.titlePath() });
    const told = (error) => {
      const stack = typeof error?.stack === 'string' ? error.stack : '';
      const sides = ['expected', 'actual'].filter((side) => error && side in error && error.showDiff !== false);
      const shown = sides.map((side) => `${side}: ${typeof error[side] === 'string' ? error[side] : JSON.stringify(error[side])}`);
      return { message: [String(error?.message ?? error), ...shown].join('\n'), stack };
    };
    const list = (suite) => {
      for (const test of suite.tests) tell({ kind: 'listed', ...id(test) });
      suite.suites.forEach(list);
    };
    const result = (test, said, why) => {
      counts[said] += 1;
      tell({ kind: 'result', said, ...id(test), ...why });
    };
    runner.once('start', () => list(runner.suite));
    runner.on('pass', (test) => result(test, 'passed'));
    runner.on('pending', (test) => result(test, 'ignored'));
    runner.on('fail', (test, error) => {
      if (test.type === 'hook') tell({ kind: 'broken', ...id(test), ...told(error) });
      else result(test, 'failed', told(error));
    });
    runner.once('end', () => tell({ kind: 'end', ...counts }));
  }
};
