import { randomOrder } from '../random-order.ts'
import type { KeyPattern, LanePlace, OpenLane, WayLane } from './lane-input.ts'
import { wayOf } from './ways.ts'

const MANY = 50_000
/** Random keys are drawn before the measurement. */
const DRAWS = 1_048_576
const SEED = 0x2545_f491

/** Opens a lane: a limiter that is measured with its own keys. The states are not deleted, because the server is only for this run. */
export async function openWayLane({ way, callers, keys }: WayLane, { url, quota, space }: LanePlace): Promise<OpenLane> {
  const contestant = wayOf(way)
  const running = await contestant.open(url, quota, { callers })
  const choose = chooser(keys, callers, space)
  return {
    lane: {
      name: contestant.name,
      callers,
      invoke: (caller) => running.invoke(choose(caller), caller),
      passed: (answer) => running.passed(answer),
      sent: () => running.wire.sent(),
    },
    close: () => running.close([]),
  }
}

/** Makes a function that chooses keys. The texts are made before the measurement, through a buffer as in a parser. */
function chooser(pattern: KeyPattern, callers: number, space: string): (caller: number) => string {
  const count = typeof pattern === 'number' ? pattern : { one: 1, own: callers, many: MANY }[pattern]
  const keys = Array.from({ length: count }, (_, index) => Buffer.from(`${space}:user:${10_000_000 + index}`, 'latin1').toString('latin1'))
  if (pattern === 'own') return (caller) => keys[caller] as string
  let next = 0
  if (typeof pattern === 'number') {
    const order = randomOrder(DRAWS, count, SEED)
    return () => {
      next = next + 1 === DRAWS ? 0 : next + 1
      return keys[order[next] as number] as string
    }
  }
  return () => {
    next = next + 1 === count ? 0 : next + 1
    return keys[next] as string
  }
}
