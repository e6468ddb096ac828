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
  const { metafile } = await build({ ...common, entryPoints: ['src/extension.ts'], outfile: 'target/extension.js', external: ['vscode'], minify: true, keepNames: true, metafile: true });
  writeFileSync('target/third-party-licences.txt', licences(Object.keys(metafile.inputs)));
  // The package carries the licences of the repository.
  const texts = ['LICENSE-MIT', 'LICENSE-APACHE'].map((name) => readFileSync(`../../${name}`, 'utf8'));
  writeFileSync('LICENSE', `MIT or Apache-2.0, at your choice.\n\n${texts.join('\n\n')}`);
}

/** Name and licence of every package that went into the bundle. */
function licences(inputs) {
  const packages = new Set(inputs.map((input) => /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]).filter(Boolean));
  return [...packages].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no licence file`);
    return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}\n`;
  }).join(`\n${'-'.repeat(80)}\n\n`);
}
