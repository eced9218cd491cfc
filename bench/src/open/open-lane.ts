import { POSTGRES_WAYS } from '../postgres/ways.ts'
import { poolIn } from '../postgres/pool.ts'
import { randomOrder } from '../random-order.ts'
import { wayOf } from '../redis/ways.ts'
import type { OpenKeys, OpenPlace } from './lane-order.ts'
import { type Limited, permittedOf } from './metered.ts'

export interface OpenedLane extends Limited {
  readonly name: string
}

const MANY = 10_000
/** The number of random keys that are drawn before the measurement; a power of two. */
const DRAWS = 65_536
/** Connections of each way on PostgreSQL. */
const CONNECTIONS = 16

/** Opens a limiter, so that it is ready for its first request. Rejects if the server does not answer. */
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

/** Makes a function that chooses keys. The texts are made before the measurement, through a buffer as in a parser. */
function chooser(pattern: OpenKeys, space: string): (index: number) => string {
  const count = pattern === 'one' ? 1 : MANY
  const names = Array.from({ length: count }, (_, index) => Buffer.from(`${space}:user:${10_000_000 + index}`, 'latin1').toString('latin1'))
  const order = randomOrder(DRAWS, count, 0x2545_f491)
  return (index) => names[order[index % DRAWS] as number] as string
}
