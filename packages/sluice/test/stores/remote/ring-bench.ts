import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { type RemoteStore, remoteStore, type RemoteStoreOptions } from '../../../src/stores/remote/remote-store.ts'
import { type Call, type CallGroup, type DecideOptions, type GroupVerdict, type Store, StoreFailure } from '../../../src/stores/store.ts'
import { type ManualClock, manualClock } from '../../../src/time/manual.ts'
import { type HeldStore, heldStore, settle } from './held-store.ts'

const limit = tokenBucket({ rate: '1/s', burst: 10 })
const scope = { text: 'r:tb:' }

export const call = (key: string, cost = 1): Call => ({ id: { scope, key }, limit, cost: cost * 1_000_000, phase: 0 })
export const group = (...of: string[]): CallGroup => ({ calls: of.map((key) => call(key)) })
export const groups = (of: readonly string[]): CallGroup[] => of.map((key) => group(key))

/** `name0`, `name1` and so on. */
export function keys(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name}${index}`)
}

/** A group's outcome, or its failure as `kind executed`. */
export function outcomeOf({ outcome, failure }: GroupVerdict): string {
  return outcome ?? `${failure.kind} ${failure.executed}`
}

export const reset = (): StoreFailure => new StoreFailure('connection', 'unknown', 'the connection was reset')
export const gone = (): StoreFailure => new StoreFailure('connection', 'no', 'there is no connection')

/** An answer that can be looked at before it is there. */
export interface Asked {
  /** The outcomes, in the order of the groups. It is `waits` until the answer is there. */
  readonly outcomes: readonly string[] | 'waits'
  readonly answer: Promise<readonly string[]>
  /** By the manual clock, in milliseconds. */
  readonly answeredAt: number | undefined
}

export interface RingBench extends HeldStore {
  readonly clock: ManualClock
  readonly ring: RemoteStore
  /** One group for each key. */
  ask(of: string | readonly string[], options?: DecideOptions): Asked
  /** Keys of each call that is held. */
  sent(): (readonly string[])[]
  /** Moves the clock by one millisecond at a time, and runs waiting promises after each. */
  pass(ms: number): Promise<void>
}

/** A ring around a held store. Denials are not remembered unless an option says so: most tests count calls. */
export function ringBench(
  options: RemoteStoreOptions = {},
  inner?: (clock: ManualClock) => Store,
  around: (store: Store, clock: ManualClock) => Store = (store) => store,
): RingBench {
  const clock = manualClock()
  const held = heldStore(clock, inner?.(clock))
  const ring = remoteStore(around(held.store, clock), { clock, random: () => 1, denials: false, ...options })
  return {
    ...held,
    clock,
    ring,
    ask: (of, callOptions) => asked(ring.decide(groups(typeof of === 'string' ? [of] : of), callOptions), clock),
    sent: () => held.calls.map((one) => one.keys),
    async pass(ms) {
      for (let step = 0; step < ms; step += 1) {
        clock.advance(1)
        await settle()
      }
    },
  }
}

function asked(verdicts: Promise<readonly GroupVerdict[]>, clock: ManualClock): Asked {
  const answer = verdicts.then((all) => all.map(outcomeOf))
  const state: { outcomes: Asked['outcomes']; answeredAt: number | undefined } = { outcomes: 'waits', answeredAt: undefined }
  answer.then(
    (outcomes) => Object.assign(state, { outcomes, answeredAt: clock.monotonic() }),
    () => {},
  )
  return {
    answer,
    get outcomes() {
      return state.outcomes
    },
    get answeredAt() {
      return state.answeredAt
    },
  }
}
