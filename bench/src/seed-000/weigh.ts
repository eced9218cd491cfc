import { Redis } from 'ioredis'
import type { Quota, Running } from '../contestants/contestant.ts'
import { wayOf } from '../redis/ways.ts'
import { answerOf } from './loads.ts'
import type { Weight, WorkerOrder } from './worker-order.ts'
import { usedMemory } from '../redis/used-memory.ts'

const BATCH = 500
/** Keys of the further round that must be denied. */
const DENIED = 1_000
/** The most tries of a charge. On a busy machine, a call of Sluice may miss its deadline, and is then made again. */
const TRIES = 50

/** Charges every key this often, in rounds over all keys, on a server without other keys, and measures its memory. */
export async function weigh({ url, way, quota, key, keys, charges }: Extract<WorkerOrder, { what: 'weigh' }>): Promise<Weight> {
  const reader = new Redis(url)
  const running = await wayOf(way).open(url, quota, { callers: 1 })
  // Names of 24 characters.
  const names = Array.from({ length: keys }, (_, index) => `${key}${String(index).padStart(24 - key.length, '0')}`)
  let refused = 0
  /** Keys whose last charge may have been made twice, so that a denial of them need not be wrong. */
  const uncertain = new Set<string>()
  const charge = async (some: readonly string[]): Promise<void> => {
    for (let left = some, tries = 0; left.length > 0 && tries < TRIES; tries += 1) {
      const answers = await Promise.all(left.map((name) => answerOf(running, name, 0)))
      refused += left.filter((name, index) => answers[index] === false && !uncertain.has(name)).length
      left = left.filter((_, index) => answers[index] === undefined)
      for (const name of left) uncertain.add(name)
    }
  }
  // Loads programs and allocates buffers before the first measurement.
  await charge(names.slice(0, BATCH))
  await reader.flushall()
  refused = 0
  const before = await usedMemory(reader)
  for (let round = 0; round < charges; round += 1)
    for (let from = 0; from < keys; from += BATCH) await charge(names.slice(from, from + BATCH))
  const bytesPerKey = ((await usedMemory(reader)) - before) / keys
  const found = await reader.dbsize()
  const full = charges < quota.burst ? {} : { overPercent: await overOf(running, names.slice(0, DENIED), quota) }
  await running.close([])
  await reader.flushall()
  await reader.quit()
  return { bytesPerKey, refused, keys: found, ...full }
}

/** What one more request of each key would admit beyond the limit, in percent. */
async function overOf(running: Running, names: readonly string[], { burst }: Quota): Promise<number> {
  const answers = await Promise.all(names.map((name) => answerOf(running, name, 0)))
  return (answers.filter((answer) => answer === true).length / (burst * names.length)) * 100
}
