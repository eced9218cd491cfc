import type { MonotonicInstant } from '../../time/time.ts'
import type { Need, Position, Pull } from './messages.ts'
import type { Region } from '../rights/roster.ts'

export interface PeerNeeds {
  /**
   * Remembers what a peer needs, and returns the position up to which it is known. Undefined if an earlier message is missing: the peer
   * must send all needs again.
   */
  learn(peer: Region, pull: Pick<Pull, 'needs' | 'after' | 'needsAt'>): Position | undefined
  /** By the name of the key. */
  of(peer: Region): ReadonlyMap<string, LearnedNeed>
}

export interface LearnedNeed extends Need {
  /** Since when the peer's units have not covered its largest call. */
  readonly since: MonotonicInstant
}

/** What one process of a peer has sent. */
interface Known {
  readonly at: Position
  readonly needs: Map<string, LearnedNeed>
  readonly learnedAt: MonotonicInstant
}

/** The most processes of one peer whose needs are remembered. */
const MAX_SOURCES = 16

/**
 * @param maxKeys remembered per process of a peer
 * @param keepMs how long a process's needs count after its last request
 */
export function createPeerNeeds(maxKeys: number, keepMs: number, monotonic: () => MonotonicInstant): PeerNeeds {
  const known = new Map<Region, Map<string, Known>>()
  const keyOf = ({ scope, key }: Need): string => `${scope}\n${key}`
  return {
    learn(peer, { needs, after, needsAt: at }) {
      const sources = known.get(peer) ?? new Map<string, Known>()
      known.set(peer, sources)
      const learnedAt = monotonic()
      for (const [source, one] of sources) if (learnedAt - one.learnedAt > keepMs) sources.delete(source)
      const before = sources.get(at.run)
      const goesOn = before !== undefined && before.at.at >= after
      if (!goesOn && after > 0) return undefined
      const own = goesOn && after > 0 ? before.needs : new Map<string, LearnedNeed>()
      for (const need of needs) {
        if (need.need === 0) own.delete(keyOf(need))
        else if (own.size < maxKeys || own.has(keyOf(need))) {
          const last = before?.needs.get(keyOf(need))
          const waited = last !== undefined && last.units < last.cost
          own.set(keyOf(need), { ...need, since: waited ? last.since : learnedAt })
        }
      }
      sources.delete(at.run)
      sources.set(at.run, { at, needs: own, learnedAt })
      if (sources.size > MAX_SOURCES) sources.delete(sources.keys().next().value as string)
      return at
    },
    of(peer) {
      const [first, ...others] = known.get(peer)?.values() ?? []
      if (others.length === 0) return first?.needs ?? new Map()
      // Several processes of a region may report, each the region's whole need. The largest counts, so that the region gets enough.
      const all = new Map(first?.needs)
      for (const { needs } of others) {
        for (const [name, need] of needs) if (need.need >= (all.get(name)?.need ?? 0)) all.set(name, need)
      }
      return all
    },
  }
}
