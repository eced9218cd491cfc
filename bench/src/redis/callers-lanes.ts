import type { Contestant, Quota, Running } from '../contestants/contestant.ts'
import { type CallersLane, type CallersTimed, interleaveCallers, type RoundsOptions } from './rounds.ts'
import { type Way, wayOf } from './ways.ts'

/** `one`: all callers share a key; `own`: each has its own; `many`: 50,000 in turn, another one each time. */
export type KeyPattern = 'one' | 'own' | 'many'

export interface LaneInput {
  readonly way: Way
  readonly callers: number
  readonly keys: KeyPattern
}

export interface CallersInput extends RoundsOptions {
  readonly url: string
  readonly quota: Quota
  readonly lanes: readonly LaneInput[]
}

export interface CallersResult {
  /** In the order they were asked for. */
  readonly lanes: readonly CallersTimed[]
}

const MANY = 50_000

/** Ways side by side, each under its own keys on one server. */
export async function compareCallers({ url, quota, lanes, ...options }: CallersInput): Promise<CallersResult> {
  const opened: { lane: CallersLane; running: Running }[] = []
  for (const [index, input] of lanes.entries()) opened.push(await open(wayOf(input.way), input, `lane${index}`, url, quota))
  const timed = await interleaveCallers(
    opened.map(({ lane }) => lane),
    options,
  )
  // Their states are left to the server, which is this run's own.
  for (const { running } of opened) await running.close([])
  return { lanes: timed }
}

async function open(
  contestant: Contestant,
  { callers, keys }: LaneInput,
  space: string,
  url: string,
  quota: Quota,
): Promise<{ lane: CallersLane; running: Running }> {
  const running = await contestant.open(url, quota, { callers })
  const choose = chooser(keys, callers, space)
  const lane: CallersLane = {
    name: contestant.name,
    callers,
    ask: (caller) => running.ask(choose(caller), caller),
    passed: (answer) => running.passed(answer),
    sent: () => running.wire.sent(),
  }
  return { lane, running }
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
