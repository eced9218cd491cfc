import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { PartOptions } from './part.ts'

/** Programs of measurements: each has its own `child.ts`. */
export type Family = 'embedded' | 'redis' | 'postgres'

export interface ChildOptions extends Pick<PartOptions, 'atEnd'> {
  readonly family?: Family
}

/**
 * Runs a measurement of a family's `child.ts` in a process of its own, so that no other one has shaped its heap or its compiled code; the
 * collector can be called there. Rejects where the process fails; what it wrote to stderr went to ours.
 */
export async function inChild<Result>(measurement: string, input: object, { atEnd, family = 'embedded' }: ChildOptions): Promise<Result> {
  const program = fileURLToPath(new URL(`${family}/child.js`, import.meta.url))
  const args = ['--expose-gc', program, measurement, JSON.stringify(input)]
  return JSON.parse(await outputOf(`the measurement ${measurement}`, args, { atEnd })) as Result
}

/** What `node ARGS` prints; rejects, under this name, where it fails. What it wrote to stderr went to ours. */
export async function outputOf(name: string, args: readonly string[], { atEnd }: Pick<PartOptions, 'atEnd'>): Promise<string> {
  const child = spawn(process.execPath, [...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  atEnd(async () => void child.kill())
  const [out, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null, string | null]>])
  if (code !== 0) throw new Error(`${name} ended with ${signal ?? `code ${String(code)}`}`)
  return out
}
