import { readFileSync } from 'node:fs'
import { tokenBucket, type TokenBucketOptions } from '../../src/algorithms/token-bucket.ts'
import type { RequestFacts } from '../../src/identity/request.ts'
import { createEngine, type Engine, type EngineDecision, parsePolicy } from '../../src/policy.ts'
import type { ParseOptions } from '../../src/policy/parse.ts'
import type { Policy } from '../../src/policy/model/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Store } from '../../src/stores/store.ts'
import { audit, type TraceEntry } from '../../src/testing/audit.ts'
import { seeded } from '../../src/testing/random.ts'
import { type ManualClock, manualClock } from '../../src/time/manual.ts'

export const page: string = readFileSync(new URL('../../../../docs/choosing.md', import.meta.url), 'utf8')

/** The policies in the code blocks of the page, by the file names in these blocks. */
export const FENCES: ReadonlyMap<string, string> = new Map(
  [...page.matchAll(/^```(?:yaml|json) file=(\S+)\n(.*?)^```$/gms)].map(([, file = '', text = '']) => [file, text]),
)

export type SomeFacts = Partial<RequestFacts>

export interface PolicyBench {
  readonly engine: Engine
  readonly store: Store & { readonly size?: number }
  readonly clock: ManualClock
  /** Every request so far. */
  readonly trace: readonly TraceEntry[]
  decide(more?: SomeFacts): Promise<EngineDecision>
  /** How many of so many requests at once pass. */
  flood(count: number, more?: SomeFacts): Promise<number>
  /**
   * Sends 200 bursts (or `bursts`) of up to 40 requests. Between them are pauses of up to `pauseMs`, and one pause in four is 20 times as
   * long. The seed chooses all of these.
   */
  wander(walk: { readonly pauseMs: number; readonly seed: number; readonly bursts?: number }, more?: SomeFacts): Promise<void>
  /** Moves to the next minute or hour of the clock. */
  toMinute(): void
  toHour(): void
  /** When the admitted requests were decided, in microseconds. */
  taken(): number[]
  /**
   * How many tokens too many were admitted in the worst interval, for a limit; by default the policy's only one. Admissions of other traces
   * are added.
   */
  over(limit?: TokenBucketOptions, ...others: readonly (readonly TraceEntry[])[]): number
}

export function policyOf(file: string, options: ParseOptions = {}, change = (text: string): string => text): Policy {
  const text = FENCES.get(file)
  if (text === undefined) throw new Error(`the page has no policy called ${file}`)
  const changed = change(text)
  return parsePolicy(changed, { ...options, ...(file.endsWith('.json') ? { format: 'json' } : {}) })
}

/** An engine with one of the page's policies. Unless others are given, it has a memory store, and a manual clock. */
export function policyBench(
  file: string,
  change?: (text: string) => string,
  maxBytes = 2 ** 24,
  shared: { readonly clock?: ManualClock; readonly store?: Store } = {},
): PolicyBench {
  const clock = shared.clock ?? manualClock()
  const store = shared.store ?? memoryStore({ clock, maxKeys: 10_000, maxBytes })
  const engine = createEngine({ policy: policyOf(file, {}, change), store, clock })
  const trace: TraceEntry[] = []
  const decide = async (more: SomeFacts = {}): Promise<EngineDecision> => {
    const decision = await engine.decide({ method: 'GET', path: '/', headers: {}, ip: '192.0.2.1', ...more })
    trace.push({ at: clock.now(), cost: 1, allowed: decision.allowed })
    return decision
  }
  const flood = async (count: number, more?: SomeFacts): Promise<number> => {
    let passed = 0
    for (let call = 0; call < count; call += 1) if ((await decide(more)).allowed) passed += 1
    return passed
  }
  const toNext = (micros: number): void => clock.advance((micros - (clock.now() % micros)) / 1_000)
  return {
    engine,
    store,
    clock,
    trace,
    decide,
    flood,
    wander: async ({ pauseMs, seed, bursts = 200 }, more) => {
      const random = seeded(seed)
      for (let burst = 0; burst < bursts; burst += 1) {
        await flood(Math.floor(random() * 40), more)
        clock.advance(Math.ceil(random() * pauseMs * (random() < 0.25 ? 20 : 1)))
      }
    },
    toMinute: () => toNext(60_000_000),
    toHour: () => toNext(3_600_000_000),
    taken: () => trace.filter(({ allowed }) => allowed).map(({ at }) => at),
    over: (limit, ...others) => {
      const own = engine.policy.rules[0]?.tiers[0]?.limit
      const against = limit === undefined ? own : tokenBucket(limit)
      if (against === undefined) throw new Error('the policy has no limit')
      return audit([...trace, ...others.flat()], against).overGrant
    },
  }
}
