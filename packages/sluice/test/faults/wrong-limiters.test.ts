import { describe, expect, it } from 'vitest'
import { memoryStore, tokenBucket } from '../../src/index.ts'
import { audit, manualClock, type TraceEntry } from '../../src/testing.ts'

const RATE = 10
const BURST = 10
const limit = tokenBucket({ rate: `${RATE}/s`, burst: BURST })
const START = 1_763_692_800_000_000
const MICRO = 1_000_000

/** Takes a time in microseconds; returns whether the call may pass. */
type Limiter = (now: number) => boolean | Promise<boolean>

interface Mistake {
  readonly name: string
  readonly limiter: () => Limiter
  /** When it is called; calls of one inner list at once. */
  readonly schedule: readonly (readonly number[])[]
}

function steps(count: number, every: number): number[][] {
  return Array.from({ length: count }, (_, index) => [START + index * every])
}

const mistakes: readonly Mistake[] = [
  {
    name: 'reads, waits, and writes',
    schedule: Array.from({ length: 40 }, (_, index) => Array<number>(8).fill(START + index * 100_000)),
    limiter: () => {
      let state = { tokens: BURST, at: START }
      return async (now) => {
        const read = state
        const tokens = Math.min(BURST, read.tokens + ((now - read.at) * RATE) / MICRO)
        await Promise.resolve()
        state = { tokens: tokens >= 1 ? tokens - 1 : tokens, at: now }
        return tokens >= 1
      }
    },
  },
  {
    name: 'believes a clock that went back',
    // Two servers call in turn, whose clocks are 300 ms apart.
    schedule: Array.from({ length: 400 }, (_, index) => [START + index * 10_000 + (index % 2 === 0 ? 0 : 300_000)]),
    limiter: () => {
      let [tokens, at] = [BURST, START]
      return (now) => {
        tokens = Math.min(BURST, tokens + (Math.max(0, now - at) * RATE) / MICRO)
        at = now
        if (tokens < 1) return false
        tokens -= 1
        return true
      }
    },
  },
  {
    name: 'counts in windows that begin at zero',
    schedule: steps(400, 50_000 / 4).map(([now = 0]) => [now + 900_000]),
    limiter: () => {
      let [count, window] = [0, 0]
      return (now) => {
        const current = Math.floor(now / MICRO)
        if (current !== window) [count, window] = [0, current]
        count += 1
        return count <= RATE
      }
    },
  },
  {
    name: 'rounds what flows in to whole tokens',
    schedule: steps(400, 60_000),
    limiter: () => {
      let [tokens, at] = [BURST, START]
      return (now) => {
        tokens = Math.min(BURST, tokens + Math.round(((now - at) * RATE) / MICRO))
        at = now
        if (tokens < 1) return false
        tokens -= 1
        return true
      }
    },
  },
]

/**
 * Calls a limiter at the instants of a schedule. Store time never goes back (law 3). So what is admitted after the clock was set back
 * counts at the latest instant so far.
 */
async function run(limiter: Limiter, schedule: Mistake['schedule']): Promise<TraceEntry[]> {
  const trace: TraceEntry[] = []
  let latest = 0
  for (const times of schedule) {
    const answers = await Promise.all(times.map(async (now) => limiter(now)))
    answers.forEach((allowed, index) => {
      latest = Math.max(latest, times[index] as number)
      trace.push({ at: latest, cost: 1, allowed })
    })
  }
  return trace
}

describe('the audit distinguishes a wrong limiter from a right one', () => {
  it.each(mistakes)('one that $name is caught', async ({ name, limiter, schedule }) => {
    const found = audit(await run(limiter(), schedule), limit)
    console.log(`a limiter that ${name}: over-grant ${found.overGrant.toFixed(2)} tokens, ${found.overGrantPercent.toFixed(0)} %`)
    expect(found.overGrant).toBeGreaterThan(0)
  })

  it.each(mistakes)('the kernel, called as the one that $name, is not', async ({ schedule }) => {
    const store = memoryStore({ clock: manualClock() })
    const group = { calls: [{ id: { scope: { text: 'w:' }, key: 'k' }, limit, cost: 1_000_000, phase: 0 }] }
    const trace = await run((now) => store.decideNow(group, now).outcome === 'allowed', schedule)
    expect(audit(trace, limit).overGrant).toBe(0)
    expect(trace.filter((entry) => entry.allowed).length).toBeGreaterThanOrEqual(BURST)
  })
})
