import { setImmediate as nextTurn } from 'node:timers/promises'
import { waitedMs } from '../machine/waited.ts'
import type { Run } from './pauses.ts'

/** Calls between two turns of the event loop. Node reports garbage collections in these turns. */
export const TURN = 50_000
/** Calls between two readings of the time that the thread waited for a processor. A reading costs too much for every call. */
const BLOCK = 32

/** Milliseconds; shorter calls are ignored. */
const WORTH_MS = 0.02

/**
 * Runs `step` this many times, or until it returns false. A promise is awaited first, as a part of the run. Returns the longest run of each
 * block.
 */
export async function longestOf(times: number, step: (index: number) => unknown): Promise<Run[]> {
  const found: Run[] = []
  let longest: Run = { at: 0, wall: 0, own: 0 }
  let waited = waitedMs()
  for (let index = 0; index < times; index += 1) {
    const at = performance.now()
    const answer = step(index)
    const more = answer instanceof Promise ? await answer : answer
    const wall = performance.now() - at
    if (wall > longest.wall) longest = { at, wall, own: wall }
    if (index % BLOCK === 0) {
      if (longest.wall > WORTH_MS) {
        found.push({ ...longest, own: Math.max(0, longest.wall - (waitedMs() - waited)) })
      }
      longest = { at: 0, wall: 0, own: 0 }
      if (index % TURN === 0) await nextTurn()
      waited = waitedMs()
    }
    if (more === false) break
  }
  return found
}
