import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineName } from '../fences/addresses.ts'
import { looksLike } from '../fences/output.ts'
import { APP } from './application.ts'
import type { Place } from './place.ts'
import { type Program, settled } from './programs.ts'

/** The most milliseconds until a program has ended, or answers: a runtime may start for the first time, on a busy machine. */
const PROGRAM_MS = 60_000
const PAUSE_MS = 50

/**
 * Runs a program of a document as a reader types it: saved as a file, without a build. It must print what the document shows and end by
 * itself, or, if it serves requests, listen and answer 200.
 * @param command the runtime and its arguments before the program
 * @throws Error that says which of these it did not do
 */
export async function runAsTyped(
  place: Place,
  [file, ...args]: readonly string[],
  program: Program,
  urls: ReadonlyMap<EngineName, string>,
  withinMs: number = PROGRAM_MS,
): Promise<void> {
  const { text, port } = await settled(program, urls)
  place.write(`${APP}/${program.file}.mjs`, text)
  const command = [file as string, [...args, `${program.file}.mjs`], APP] as const
  if (program.serves) return answers(place.start(...command, {}), program, port, withinMs)
  const printed = await place.run(...command, withinMs)
  if (program.output !== undefined && !looksLike(program.output, printed)) throw new Error(`${program.name} printed\n${printed}`)
}

/** @param ended rejects if the program ends */
async function answers(ended: Promise<never>, { name }: Program, port: number | undefined, withinMs: number): Promise<void> {
  if (port === undefined) throw new Error(`${name} serves requests, but listens on no port`)
  const end = performance.now() + withinMs
  const called = async (): Promise<number> => {
    for (;;) {
      try {
        return (await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(withinMs) })).status
      } catch (error) {
        if (performance.now() > end) throw new Error(`${name} does not listen on its port`, { cause: error })
        await sleep(PAUSE_MS)
      }
    }
  }
  const status = await Promise.race([called(), ended])
  if (status !== 200) throw new Error(`${name} answers ${status}`)
}
