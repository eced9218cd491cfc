import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkApi } from './api.ts'
import { checkDeploy } from './deploy.ts'
import { checkFences } from './fences/check-fences.ts'
import { type Finding, findingOf } from './finding.ts'
import { checkHover } from './hover.ts'
import { checkTexts } from './house-text.ts'
import { problemsOf } from './release/contents.ts'
import { publint, typesLint } from './release/lint.ts'
import { readOwner } from './release/owner.ts'
import { pack } from './release/pack.ts'
import { checkLengths, checkNames } from './tree-rules.ts'

/**
 * `npm run check`: checks everything about the repository that no test checks. Parts run one after another. The output of a part is printed
 * if the part fails, or if it was named as an argument. Usage: check.js [PART ...]
 */
interface Part {
  readonly name: string
  /** Runs the part. Undefined: there is nothing to check yet. */
  run(root: string): Promise<Finding | undefined> | Finding
}

const PARTS: readonly Part[] = [
  { name: 'format', run: (root) => node(root, 'node_modules/oxfmt/bin/oxfmt', '--check', '.') },
  { name: 'lint', run: (root) => node(root, 'node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings', '.') },
  { name: 'types', run: types },
  // The lint checks imports too. This part checks only them, within a second.
  { name: 'imports', run: (root) => node(root, 'node_modules/oxlint/bin/oxlint', '-c', '.oxlint-imports.json', '.') },
  { name: 'lengths', run: checkLengths },
  { name: 'names', run: checkNames },
  { name: 'texts', run: checkTexts },
  { name: 'programs', run: (root) => node(root, 'scripts/dist/generate-programs.js', '--check') },
  { name: 'unused', run: (root) => node(root, 'node_modules/knip/bin/knip.js', '--no-progress') },
  { name: 'package', run: packages },
  { name: 'package types', run: packageTypes },
  { name: 'deploy', run: checkDeploy },
  { name: 'api', run: checkApi },
  { name: 'hover', run: checkHover },
  { name: 'size', run: (root) => node(root, 'node_modules/size-limit/bin.js') },
  { name: 'fences', run: (root) => checkFences(root) },
]

/** Projects of tests. They are not part of the sources' projects, because they import sources directly. */
const TESTS = ['tsconfig.test.json', 'bench/tsconfig.test.json', 'packages/sluice/tsconfig.express-4.json']

/** Checks the types of all projects, and then of the tests. */
async function types(root: string): Promise<Finding | undefined> {
  let finding = await node(root, 'node_modules/typescript/bin/tsc', '-b')
  for (const project of TESTS) if (finding?.ok === true) finding = await node(root, 'node_modules/typescript/bin/tsc', '-p', project)
  return finding
}

/** Checks the files of both packages as they are published. */
function packages(root: string): Finding {
  return inFolder((folder) => pack(root, folder, readOwner(root)).flatMap((one) => [...problemsOf(one, one.files), ...publint(root, one)]))
}

function packageTypes(root: string): Finding {
  return inFolder((folder) => pack(root, folder, readOwner(root)).flatMap((one) => typesLint(root, one)))
}

/** Calls `find` with a temporary folder that it may write into, and makes a finding of the problems that it returns. */
function inFolder(find: (folder: string) => string[]): Finding {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-package-'))
  try {
    return findingOf(find(folder))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs a program of the repository. Its output is the text of the finding. */
async function node(root: string, program: string, ...args: readonly string[]): Promise<Finding | undefined> {
  if (!existsSync(join(root, program))) return undefined
  const child = spawn(process.execPath, [program, ...args], { cwd: root, env: { ...process.env, NO_COLOR: '1' } })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  return { ok: code === 0, text: Buffer.concat(chunks).toString('utf8').trim() }
}

const root = join(import.meta.dirname, '..', '..')
const chosen = process.argv.slice(2)
const unknown = chosen.find((name) => !PARTS.some((part) => part.name === name))
if (unknown !== undefined) {
  console.error(`no part is called ${unknown}: there are ${PARTS.map(({ name }) => name).join(', ')}`)
  process.exit(3)
}
let passed = 0
const failed: string[] = []
for (const part of PARTS) {
  if (chosen.length > 0 && !chosen.includes(part.name)) continue
  const started = performance.now()
  const finding = await part.run(root)
  if (finding === undefined) continue
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  console.log(`${finding.ok ? 'ok  ' : 'FAIL'} ${part.name.padEnd(14)}${seconds.padStart(6)} s`)
  if (!finding.ok || chosen.length > 0) console.log(`\n${finding.text}\n`)
  if (finding.ok) passed += 1
  else failed.push(part.name)
}
console.log(failed.length === 0 ? `${passed} parts, all well` : `${passed} parts well, ${failed.length} not: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
