import { orderedInput } from '../ordered-input.ts'
import type { Batch } from '../redis/rounds.ts'
import { type ContestantName, contestantOf } from './contestants/all.ts'
import { playOf, type Verdicts } from './plays.ts'
import { scenarioOf } from './scenarios.ts'
import { TAPE_REQUESTS } from './tape.ts'
import { MIN_CALLS, warmedUp } from './warm-up.ts'

export interface PeerInput {
  readonly contestant: ContestantName
  readonly scenario: string
  readonly keys: number
  /** The length of a batch in milliseconds. */
  readonly batchMs: number
  /**
   * How long a lane (a measured limiter) runs before its first batch, in milliseconds of processor time; longer if its code is not compiled
   * by then.
   */
  readonly warmUpMs: number
}

/**
 * One contestant in a process of its own, so that no other affects its heap or its compiled code. It sends its name
 * when it is ready, then takes the orders `warm-up`, `batch` and `close`.
 */
async function serve({ contestant, scenario: name, keys, batchMs, warmUpMs }: PeerInput): Promise<void> {
  const scenario = scenarioOf(name)
  const play = await playOf(contestant, scenario, keys)
  // Each batch of a tape (recorded requests) leaves new keys in the limiter. So its batches and its warm-up have fixed numbers of requests,
  // which do not depend on the time.
  const mixed = scenario.answer === 'mixed'
  let calls = mixed ? TAPE_REQUESTS : MIN_CALLS
  let total: Verdicts = { permitted: 0, over: 0, under: 0 }
  const batch = async (): Promise<Batch> => {
    const { wall, client, permitted, over, under } = await play(calls)
    total = { permitted: total.permitted + permitted, over: total.over + over, under: total.under + under }
    const round = { wall: wall / calls, client: client / calls, server: 0 }
    return { round, total: calls, allowed: permitted + over - under, errors: 0, reasons: {}, trips: 0 }
  }
  const warmUp = async (): Promise<void> => {
    const perCall = async (of: number): Promise<number> => (await play(of)).wall / of
    calls = await warmedUp(perCall, mixed ? { calls } : { calls, batchMs, warmUpMs })
  }
  const obey = async (order: unknown): Promise<void> => {
    if (order === 'batch') process.send?.(await batch())
    else if (order === 'close') process.send?.(total)
    else process.send?.(await warmUp().then(() => order))
  }
  process.on('message', (order) => void obey(order))
  process.send?.(contestantOf(contestant).name)
}

await serve((await orderedInput()) as PeerInput)
