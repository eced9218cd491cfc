import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { checkApi } from './api.ts'
import { checkFences } from './fences/check-fences.ts'
import type { Finding } from './finding.ts'
import { checkTexts } from './house-text.ts'
import { checkLengths, checkNames } from './tree-rules.ts'

/**
 * `npm run check`: everything about the repository that tests do not say. Parts run one after another; a part's output is
 * printed when it fails, or when it is named. Usage: check.js [PART ...]
 */
interface Part {
  readonly name: string
  /** Undefined: there is nothing to check yet. */
  run(root: string): Promise<Finding | undefined> | Finding
}

const PARTS: readonly Part[] = [
  { name: 'format', run: (root) => node(root, 'node_modules/oxfmt/bin/oxfmt', '--check', '.') },
  { name: 'lint', run: (root) => node(root, 'node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings', '.') },
  { name: 'types', run: types },
  // In the lint too: here alone, within a second.
  { name: 'imports', run: (root) => node(root, 'node_modules/oxlint/bin/oxlint', '-c', '.oxlint-imports.json', '.') },
  { name: 'lengths', run: checkLengths },
  { name: 'names', run: checkNames },
  { name: 'texts', run: checkTexts },
  { name: 'programs', run: (root) => node(root, 'scripts/dist/generate-programs.js', '--check') },
  { name: 'unused', run: (root) => node(root, 'node_modules/knip/bin/knip.js', '--no-progress') },
  {
    name: 'package',
    run: (root) => node(root, 'node_modules/publint/src/cli.js', 'run', 'packages/sluice', '--strict', '--pack', 'false'),
  },
  { name: 'package types', run: packageTypes },
  { name: 'api', run: checkApi },
  { name: 'size', run: (root) => node(root, 'node_modules/size-limit/bin.js') },
  { name: 'fences', run: (root) => checkFences(root) },
]

/** The projects, and the tests, which are no part of them because they import sources. */
async function types(root: string): Promise<Finding | undefined> {
  const built = await node(root, 'node_modules/typescript/bin/tsc', '-b')
  return built?.ok === false ? built : node(root, 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.test.json')
}

async function packageTypes(root: string): Promise<Finding | undefined> {
  const flags = ['--pack', 'packages/sluice', '--profile', 'esm-only', '--no-definitely-typed', '--no-emoji', '--no-color']
  return node(root, 'node_modules/@arethetypeswrong/cli/dist/index.js', ...flags)
}

/** Runs a program of the repository's own; what it prints is the finding's text. */
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
