import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
const CONFIG = join(ROOT, '.size-limit.json')
/** The limit of a size relative to the present size: a change may add 1 %. */
const TOLERANCE = 1.01

/**
 * The bytes that a size should not exceed, by its name in CONFIG. The limits in CONFIG are not goals: they only keep the present sizes
 * from growing.
 */
export const GOALS: ReadonlyMap<string, number> = new Map([
  ['createLimiter, tokenBucket and memoryStore', 12_500],
  ['sluice/redis', 40_000],
])

export interface Size {
  readonly name: string
  /** Bytes, compressed with gzip. */
  readonly size: number
  /** The number of bytes that it should not exceed. */
  readonly goal?: number
}

/** The size of each subpath of the built package, as size-limit bundles it for an application. */
export function measureSizes(): Size[] {
  const program = join(ROOT, 'node_modules', 'size-limit', 'bin.js')
  const { stdout } = spawnSync(process.execPath, [program, '--json'], { cwd: ROOT, encoding: 'utf8' })
  return (JSON.parse(stdout) as { name: string; size: number }[]).map(({ name, size }) => {
    const goal = GOALS.get(name)
    return { name, size, ...(goal === undefined ? {} : { goal }) }
  })
}

/** Writes new limits for all subpaths: their present size and 1 % more. */
function writeLimits(): void {
  const limits = new Map(measureSizes().map(({ name, size }) => [name, `${Math.ceil((size * TOLERANCE) / 10) / 100} kB`]))
  const lines = readFileSync(CONFIG, 'utf8').replace(/("name": "([^"]*)".*"limit": ")[^"]*/g, (_, before: string, name: string) => {
    return `${before}${limits.get(name) ?? '0 kB'}`
  })
  writeFileSync(CONFIG, lines)
}

if (process.argv[1] === import.meta.filename) writeLimits()
