// Bundles the extension into one file, or with --tests each test into one of its own, so that Node needs no TypeScript.
import { build } from 'esbuild';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';

const tests = process.argv.includes('--tests');
const common = { bundle: true, platform: 'node', format: 'cjs', target: 'node20', logLevel: 'warning', sourcemap: tests ? 'inline' : false };

if (tests) {
  rmSync('target/test', { recursive: true, force: true });
  const entryPoints = readdirSync('test').filter((name) => name.endsWith('.test.ts')).map((name) => `test/${name}`);
  await build({ ...common, entryPoints, outdir: 'target/test', outExtension: { '.js': '.cjs' } });
} else {
  await build({ ...common, entryPoints: ['src/extension.ts'], outfile: 'target/extension.js', external: ['vscode'], minify: true, keepNames: true });
  // The package carries the licences of the repository.
  const texts = ['LICENSE-MIT', 'LICENSE-APACHE'].map((name) => readFileSync(`../../${name}`, 'utf8'));
  writeFileSync('LICENSE', `MIT or Apache-2.0, at your choice.\n\n${texts.join('\n\n')}`);
}
