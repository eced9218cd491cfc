import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { PartOptions } from './part.ts'

/** Families of measurements. Each has its own program `child.ts`. */
export type Family = 'memory' | 'redis' | 'postgres' | 'scale' | 'seed-000' | 'seed-003' | 'seed-002'

export interface ChildOptions extends Pick<PartOptions, 'atEnd'> {
  readonly family?: Family
}

/**
 * Runs a measurement of a family's `child.ts` in a process of its own, so that no other measurement affects its heap or its compiled code.
 * The process can call the garbage collector. Rejects if the process fails. It writes to the stderr of this process.
 */
export async function inChild<Result>(measurement: string, input: object, { atEnd, family = 'memory' }: ChildOptions): Promise<Result> {
  const program = fileURLToPath(new URL(`${family}/child.js`, import.meta.url))
  const args = ['--expose-gc', program, measurement]
  return JSON.parse(await outputOf(`the measurement ${measurement}`, args, input, { atEnd })) as Result
}

/**
 * What `node ARGS` prints. It gets `input` on stdin, because every user of the machine can read arguments, and a URL may have a password.
 * Rejects if the program fails, with `name` in the message. The program writes to the stderr of this process.
 */
export async function outputOf(
  name: string,
  args: readonly string[],
  input: object,
  { atEnd }: Pick<PartOptions, 'atEnd'>,
): Promise<string> {
  const child = spawn(process.execPath, [...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const closed = once(child, 'close') as Promise<[number | null, string | null]>
  atEnd(async () => {
    child.kill()
    await closed.catch(() => {})
  })
  // If the child ends before it has read its input, this write fails. The error is ignored, because the child's exit code reports the
  // failure.
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify(input))
  const [out, [code, signal]] = await Promise.all([text(child.stdout), closed])
  if (code !== 0) throw new Error(`${name} ended with ${signal ?? `code ${String(code)}`}`)
  return out
}
