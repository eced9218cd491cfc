import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { Finding } from './finding.ts'

/** Bytes of one bundle. */
export interface Size {
  readonly min: number
  readonly gzip: number
}

export interface Bundle {
  readonly name: string
  readonly source: string
  /** Most bytes it is meant to have, compressed: told with every measurement, so that the distance stays in sight. */
  readonly goal: number
}

const RECORD = 'packages/sluice/size.json'
/** What a change may add without saying so. */
const TOLERANCE = 1.01

/** What is measured, as an application would import it. */
export const BUNDLES: readonly Bundle[] = [
  {
    name: 'createLimiter + tokenBucket + memoryStore',
    source: `export { createLimiter, tokenBucket, memoryStore } from 'sluice'`,
    goal: 6_000,
  },
  { name: 'sluice', source: `export * from 'sluice'`, goal: 10_000 },
]

/** Bundles the built package as an application would, and compares with the record. */
export async function checkSizes(root: string): Promise<Finding> {
  return judgeSizes(await measureSizes(root), readRecord(root))
}

/** Compares sizes with the recorded ones, by name; more than 1 % above the record fails. */
export function judgeSizes(now: Readonly<Record<string, Size>>, recorded: Readonly<Record<string, Size>>): Finding {
  const rows = BUNDLES.map(({ name, goal }) => {
    const size = now[name] ?? { min: Number.NaN, gzip: Number.NaN }
    const before = recorded[name]?.gzip
    const problem = problemOf(size.gzip, before)
    const text = `${name}: ${size.min} bytes, ${size.gzip} compressed (recorded ${before ?? 'nothing'}, goal ${goal})`
    return { problem, text: problem === undefined ? text : `${text}: ${problem}` }
  })
  return { ok: rows.every(({ problem }) => problem === undefined), text: rows.map(({ text }) => text).join('\n') }
}

/** Measures and records: the new record is part of the commit that changes the size. */
export async function writeSizes(root: string): Promise<void> {
  writeFileSync(join(root, RECORD), `${JSON.stringify(await measureSizes(root), undefined, 2)}\n`)
}

function problemOf(gzip: number, before: number | undefined): string | undefined {
  if (before === undefined) return 'not recorded: npm run build && node scripts/dist/size.js --write'
  return gzip > before * TOLERANCE ? 'more than 1 % above the record; if it is worth it: node scripts/dist/size.js --write' : undefined
}

/** Sizes of the built package by the name of the bundle. */
export async function measureSizes(root: string): Promise<Record<string, Size>> {
  const sizes = await Promise.all(BUNDLES.map(async ({ name, source }) => [name, await sizeOf(root, source)] as const))
  return Object.fromEntries(sizes)
}

async function sizeOf(root: string, source: string): Promise<Size> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: root },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'es2023',
    logLevel: 'silent',
  })
  const bytes = (outputFiles[0] as (typeof outputFiles)[number]).contents
  return { min: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length }
}

function readRecord(root: string): Readonly<Record<string, Size>> {
  const file = join(root, RECORD)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Size>) : {}
}

if (process.argv[1] === import.meta.filename) {
  const root = join(import.meta.dirname, '..', '..')
  if (process.argv.includes('--write')) await writeSizes(root)
  console.log((await checkSizes(root)).text)
}
