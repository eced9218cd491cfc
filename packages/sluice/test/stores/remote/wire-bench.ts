import { type RemoteStore, remoteStore, type RemoteStoreOptions } from '../../../src/stores/remote/remote-store.ts'
import type { CallGroup, DecideOptions } from '../../../src/stores/store.ts'
import { type ManualClock, manualClock } from '../../../src/time/manual.ts'
import { settle } from './held-store.ts'
import { group, outcomeOf } from './ring-bench.ts'
import { type Wire, wireStore } from './wire-store.ts'

/** A caller, what it was answered and when. */
export interface Answered {
  readonly groups: readonly CallGroup[]
  readonly askedAt: number
  /** Absent as long as it waits. */
  outcomes?: readonly string[]
  answeredAt?: number
}

export interface WireBench extends Wire {
  readonly clock: ManualClock
  readonly ring: RemoteStore
  /** Makes calls with a hard deadline in `ms` milliseconds. A text stands for one group with one call of this key. */
  ask(of: string | readonly CallGroup[], ms?: number, options?: DecideOptions): Answered
  /** Advances a millisecond at a time; before each, `each` may call. */
  pass(ms: number, each?: (at: number) => void): Promise<void>
}

export const DEADLINE_MS = 50

/** A ring around a store behind a simulated network. It does not remember denials. */
export function wireBench(options: RemoteStoreOptions = {}, lanes = false): WireBench {
  const clock = manualClock()
  const wire = wireStore(clock, lanes)
  const ring = remoteStore(wire.store, { clock, random: () => 1, denials: false, ...options })
  return {
    ...wire,
    clock,
    ring,
    ask(of, ms = DEADLINE_MS, callOptions) {
      const all = typeof of === 'string' ? [group(of)] : of
      const asked: Answered = { groups: all, askedAt: clock.monotonic() }
      void ring.decide(all, { ...callOptions, deadline: clock.monotonic() + ms }).then((verdicts) => {
        asked.outcomes = verdicts.map(outcomeOf)
        asked.answeredAt = clock.monotonic()
      })
      return asked
    },
    async pass(ms, each) {
      for (let step = 0; step < ms; step += 1) {
        each?.(clock.monotonic())
        await settle()
        clock.advance(1)
        await settle()
      }
    },
  }
}

/** How often each outcome was answered. */
export function counts(all: readonly Answered[]): Record<string, number> {
  const result: Record<string, number> = {}
  for (const { outcomes } of all) for (const outcome of outcomes ?? ['waits']) result[outcome] = (result[outcome] ?? 0) + 1
  return result
}

/** Milliseconds that the slowest caller waited. */
export function slowest(all: readonly Answered[]): number {
  return Math.max(...all.map(({ askedAt, answeredAt = Number.POSITIVE_INFINITY }) => answeredAt - askedAt))
}
