import { pg, postgresStore } from 'sluice/postgres'
import { HELD_NAMES, heldRequests, type HeldWork } from '../held-work.ts'
import { batchesOf, type CallersLane } from '../redis/batches.ts'
import { type CallersTimed, interleaveLanes } from '../redis/rounds.ts'
import type { LanesInput } from './lanes.ts'
import { placeOf } from './place.ts'

export interface HoldsInput extends Omit<LanesInput, 'keys' | 'ways'> {
  readonly works: readonly HeldWork[]
}

interface Opened {
  readonly lane: CallersLane
  close(): Promise<void>
}

/** Compares requests of the kinds of `HeldWork`. Each kind has a schema of its own, and as many connections as callers. */
export async function compareHolds({ works, seconds, ...options }: HoldsInput): Promise<readonly CallersTimed[]> {
  const opened: Opened[] = []
  try {
    for (const work of works) opened.push(await open(work, options))
    return await interleaveLanes(
      opened.map(({ lane }) => batchesOf(lane, options)),
      seconds,
    )
  } finally {
    for (const { close } of opened) await close()
  }
}

async function open(work: HeldWork, { url, quota, callers }: Omit<HoldsInput, 'works' | 'seconds'>): Promise<Opened> {
  const purpose = `holds_${callers}_${work.replaceAll(' ', '_')}`
  const place = await placeOf({ url, way: 'sluice', isolation: 'read committed' }, purpose)
  const pool = place.pool(callers)
  let calls = 0
  pool.on('acquire', () => (calls += 1))
  const store = postgresStore({ client: pg(pool) })
  await store.migrate()
  return {
    lane: { name: HELD_NAMES[work], callers, ...heldRequests(work, store, quota), sent: () => ({ calls, commands: calls }) },
    close: async () => {
      await store.close()
      await pool.end()
      await place.drop()
    },
  }
}
