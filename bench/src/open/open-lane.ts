import { perSecondOf, type Quota, windowOf } from '../contestants/contestant.ts'
import { POSTGRES_WAYS } from '../postgres/lanes.ts'
import { poolIn } from '../postgres/pool.ts'
import { randomOrder } from '../random-order.ts'
import { wayOf } from '../redis/ways.ts'
import type { OpenKeys, OpenPlace } from './lane-order.ts'
import type { Target } from './open-loop.ts'

export interface OpenedLane extends Target {
  readonly name: string
  /** The most that a key may be let through within so many milliseconds, as the way promises it. */
  permitted(elapsedMs: number): number
  close(): Promise<void>
}

const MANY = 10_000
/** So many draws of a key, made before time is measured; a power of two. */
const DRAWS = 65_536
/** Connections of each way of PostgreSQL. */
const CONNECTIONS = 16
/** Who takes the time from a client counts whole milliseconds. */
const CLOCK_MS = 1

/** Opens a way, ready for its first request; rejects where the server does not answer. */
export async function openLane(place: OpenPlace): Promise<OpenedLane> {
  const { url, callers, keys, quota, space } = place
  const choose = chooser(keys, space)
  if ('redis' in place) {
    const contestant = wayOf(place.redis)
    const running = await contestant.open(url, quota, { callers })
    return {
      name: contestant.name,
      invoke: (index) => running.invoke(choose(index), index % callers),
      passed: (answer) => running.passed(answer),
      permitted: (elapsedMs) => permittedOf(quota, contestant.promise ?? 'bucket', elapsedMs),
      close: () => running.close([]),
    }
  }
  const way = POSTGRES_WAYS[place.postgres]
  const pool = await poolIn(url, `open_${space}`, CONNECTIONS)
  await way.prepare(pool, quota)
  const running = await way.open(pool, quota)
  return {
    name: way.name,
    invoke: (index) => running.invoke(choose(index)),
    passed: (answer) => answer === true,
    permitted: (elapsedMs) => permittedOf(quota, way.promise ?? 'bucket', elapsedMs),
    close: async () => {
      await running.close()
      await pool.end()
    },
  }
}

/** A bucket's burst and what flows in; or the limit of every window that the time can touch. */
export function permittedOf(quota: Quota, promise: 'bucket' | 'window', elapsedMs: number): number {
  const seconds = (elapsedMs + CLOCK_MS) / 1_000
  if (promise === 'bucket') return Math.floor(quota.burst + perSecondOf(quota) * seconds)
  return quota.burst * (Math.ceil(seconds / windowOf(quota)) + 1)
}

/** Texts are made before time is measured, through a buffer, as a parser makes them. */
function chooser(pattern: OpenKeys, space: string): (index: number) => string {
  const count = pattern === 'one' ? 1 : MANY
  const names = Array.from({ length: count }, (_, index) => Buffer.from(`${space}:user:${10_000_000 + index}`, 'latin1').toString('latin1'))
  const order = randomOrder(DRAWS, count, 0x2545_f491)
  return (index) => names[order[index % DRAWS] as number] as string
}
