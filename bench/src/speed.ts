import type { Contestant, Quota, Running } from './contestants/contestant.ts'
import { closedLoop } from './load.ts'
import { median } from './statistics.ts'

export interface SpeedOptions {
  readonly url: string
  readonly callers: number
  readonly rounds: number
  readonly roundMs: number
  /** So large that nobody is refused: what is measured is the decision, not the limit. */
  readonly rate: number
  readonly burst: number
}

/** One contestant's speed on one key that all callers share, over all rounds. */
export interface Speed {
  readonly contestant: string
  /** Time that passed per request, in nanoseconds, round by round; the callers' requests overlap. */
  readonly rounds: readonly number[]
  readonly median: number
  /** The median, over the rounds, of this contestant's time as a multiple of the first one's in the same round. */
  readonly ratio: number
  readonly total: number
  readonly denied: number
  readonly errors: number
  readonly callsPerRequest: number
  readonly commandsPerRequest: number
}

interface Lane {
  readonly contestant: Contestant
  readonly running: Running
  readonly key: string
  readonly rounds: number[]
  total: number
  denied: number
  errors: number
  calls: number
  commands: number
}

/** Takes turns, A B C D A B C D, so that whatever else the machine does falls on all alike. A first, short turn each is not counted. */
export async function measureSpeed(contestants: readonly Contestant[], options: SpeedOptions): Promise<Speed[]> {
  const lanes: Lane[] = []
  const quota: Quota = { tokens: options.rate, per: '1s', burst: options.burst }
  for (const [index, contestant] of contestants.entries()) {
    const key = `sluice-bench:${process.pid}:speed${index}`
    const running = await contestant.open(options.url, quota, { callers: options.callers })
    await closedLoop(options.callers, options.roundMs / 4, async (caller) => running.passed(await running.invoke(key, caller)))
    lanes.push({ contestant, running, key, rounds: [], total: 0, denied: 0, errors: 0, calls: 0, commands: 0 })
  }
  for (let round = 0; round < options.rounds; round += 1) for (const lane of lanes) await turn(lane, options)
  for (const { running, key } of lanes) await running.close([key])
  const first = lanes[0]?.rounds ?? []
  return lanes.map(({ contestant, rounds, total, denied, errors, calls, commands }) => ({
    contestant: contestant.name,
    rounds,
    median: median(rounds),
    ratio: median(rounds.map((time, round) => time / (first[round] as number))),
    total,
    denied,
    errors,
    callsPerRequest: calls / total,
    commandsPerRequest: commands / total,
  }))
}

async function turn(lane: Lane, { callers, roundMs }: SpeedOptions): Promise<void> {
  const { running, key } = lane
  const before = running.wire.sent()
  const load = await closedLoop(callers, roundMs, async (caller) => running.passed(await running.invoke(key, caller)))
  const sent = running.wire.sent()
  lane.rounds.push((load.elapsedMs * 1e6) / load.total)
  lane.total += load.total
  lane.denied += load.denied
  lane.errors += load.errors
  lane.calls += sent.calls - before.calls
  lane.commands += sent.commands - before.commands
}
