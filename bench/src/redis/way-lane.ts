import type { KeyPattern, LanePlace, OpenLane, WayLane } from './lane-input.ts'
import { wayOf } from './ways.ts'

const MANY = 50_000

/** A way under its own keys; their states are left to the server, which is this run's own. */
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

/** Texts are made before time is measured, through a buffer, as a parser makes them. */
function chooser(pattern: KeyPattern, callers: number, space: string): (caller: number) => string {
  const count = { one: 1, own: callers, many: MANY }[pattern]
  const keys = Array.from({ length: count }, (_, index) => Buffer.from(`${space}:user:${10_000_000 + index}`, 'latin1').toString('latin1'))
  if (pattern === 'own') return (caller) => keys[caller] as string
  let next = 0
  return () => {
    next = next + 1 === count ? 0 : next + 1
    return keys[next] as string
  }
}
