import type { AlgorithmTag, AnyLimit } from '../../algorithms/algorithm.ts'
import { stateName } from '../../keys/encode.ts'
import type { Call, CallGroup } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import type { Reference } from '../reference.ts'
import type { Answer } from './bench.ts'

/** Index of `keepFor` in an encoded state; absent for algorithms without it. */
const KEEP_FOR: Readonly<Partial<Record<AlgorithmTag, number>>> = { tb: 3, sl: 1 }

/** Counts the cases that a trace covered, because a trace without a block proves nothing about blocks. */
export interface Met {
  /** Must be called before the reference decides the groups. */
  before(groups: readonly CallGroup[], now: Micros, reference: Reference): void
  after(groups: readonly CallGroup[], answers: readonly Answer[]): void
  count(what: string, times?: number): void
  /** Names that were counted less often than `least`, with their counts. */
  tooFew(names: readonly string[], least: number): string[]
}

export function createMet(): Met {
  const counts = new Map<string, number>()
  const limits = new Map<string, AnyLimit>()
  /** When each state expires. */
  const spentAt = new Map<string, Micros>()
  let latest: Micros = 0
  const count = (what: string, times = 1): void => void counts.set(what, (counts.get(what) ?? 0) + times)
  return {
    count,
    before(groups, now, reference) {
      if (now < latest) count('backwards')
      latest = Math.max(latest, now)
      for (const { calls } of groups) {
        const names = calls.map(({ id }) => stateName(id))
        if (new Set(names).size < names.length) count('twice in a group')
        names.forEach((name, index) => {
          const { limit } = calls[index] as { limit: AnyLimit }
          const known = reference.states.get(name)
          if (known === undefined) return
          if (limits.get(name) !== limit) count('changed limit')
          if ((known.numbers[KEEP_FOR[limit.algorithm.tag] ?? -1] ?? 0) > 0) count('keepFor')
          if ((spentAt.get(name) ?? Infinity) <= now) count('spent state')
        })
      }
      const isAlike = ({ calls }: CallGroup): boolean => calls.length === 1 && sameCall(calls[0], groups[0]?.calls[0])
      if (groups.length > 1 && groups.every(isAlike)) count('run of one call')
    },
    after(groups, answers) {
      groups.forEach(({ calls }, group) => {
        const { outcome, at, calls: verdicts } = answers[group] as Answer
        count(outcome)
        calls.forEach(({ id, limit }, index) => {
          const { blockedFor, resetAfter } = verdicts[index] as Answer['calls'][number]
          if (blockedFor !== undefined) count('blocked')
          limits.set(stateName(id), limit)
          spentAt.set(stateName(id), at + resetAfter)
        })
      })
    },
    tooFew: (names, least) => names.filter((name) => (counts.get(name) ?? 0) < least).map((name) => `${name}: ${counts.get(name) ?? 0}`),
  }
}

function sameCall(one: Call | undefined, other: Call | undefined): boolean {
  return one?.limit === other?.limit && one?.cost === other?.cost
}
