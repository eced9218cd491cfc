import { Redis } from 'ioredis'
import type { Quota } from '../contestants/contestant.ts'
import { type Way, wayOf } from './ways.ts'
import { usedMemory } from './used-memory.ts'

export interface BytesInput {
  readonly url: string
  readonly way: Way
  readonly keys: number
  readonly quota: Quota
}

export interface BytesResult {
  /** Bytes of Redis's memory for one key of the limit. */
  readonly bytes: number
  /** Keys in Redis for one key of the limit. */
  readonly names: number
  /** Requests that were not allowed, though all may pass. */
  readonly refused: number
  readonly undecided: number
}

/** Requests for each key. After two, the level of a bucket has a fraction, as in normal use. */
const CHARGES = 2
const IN_FLIGHT = 64

/** Fills an empty server through a limiter, request by request, and measures its memory. */
export async function weighWay({ url, way, keys, quota }: BytesInput): Promise<BytesResult> {
  const client = new Redis(url)
  await client.flushall()
  const running = await wayOf(way).open(url, quota, { callers: IN_FLIGHT })
  let [refused, undecided] = [0, 0]
  const request = async (key: string): Promise<void> => {
    try {
      if (!running.passed(await running.invoke(key, 0))) refused += 1
    } catch {
      undecided += 1
    }
  }
  // Loads programs and allocates buffers before the measurement.
  await request('other')
  const before = await usedMemory(client)
  for (let charge = 0; charge < CHARGES; charge += 1) {
    let next = 0
    const caller = async (): Promise<void> => {
      while (next < keys) {
        next += 1
        await request(`user:${String(next - 1).padStart(19, '0')}`)
      }
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, caller))
  }
  const bytes = ((await usedMemory(client)) - before) / keys
  const names = (await client.dbsize()) / keys
  await running.close([])
  await client.flushall()
  await client.quit()
  return { bytes, names, refused, undecided }
}
