import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
const CONFIG = join(ROOT, '.size-limit.json')
/** What a change may add without saying so. */
const TOLERANCE = 1.01

export interface Size {
  readonly name: string
  /** Bytes, compressed with gzip. */
  readonly size: number
  /** Bytes that it is meant to have at most. */
  readonly goal?: number
}

/** Sizes of each door of the built package, as size-limit bundles it for an application. */
export function measureSizes(): Size[] {
  const program = join(ROOT, 'node_modules', 'size-limit', 'bin.js')
  const { stdout } = spawnSync(process.execPath, [program, '--json'], { cwd: ROOT, encoding: 'utf8' })
  return (JSON.parse(stdout) as { name: string; size: number }[]).map(({ name, size }) => {
    const goal = /goal ([\d.]+) kB/.exec(name)?.[1]
    return { name, size, ...(goal === undefined ? {} : { goal: Number(goal) * 1_000 }) }
  })
}

/** Writes the limits of all doors anew: what they have now, and 1 % more. */
function writeLimits(): void {
  const limits = new Map(measureSizes().map(({ name, size }) => [name, `${Math.ceil((size * TOLERANCE) / 10) / 100} kB`]))
  const lines = readFileSync(CONFIG, 'utf8').replace(/("name": "([^"]*)".*"limit": ")[^"]*/g, (_, before: string, name: string) => {
    return `${before}${limits.get(name) ?? '0 kB'}`
  })
  writeFileSync(CONFIG, lines)
}

if (process.argv[1] === import.meta.filename) writeLimits()
