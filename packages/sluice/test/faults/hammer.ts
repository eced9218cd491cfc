import { type AnyLimit, tokenBucket } from '../../src/index.ts'
import { type Audit, audit, Reference } from '../../src/testing.ts'
import { startWorkers } from './workers.ts'

export interface Hammering {
  readonly kind: 'redis' | 'postgres'
  /** What is around the store in each process. */
  readonly mode: 'exact' | 'coalesced' | 'leases'
  readonly url: string
  /** Prefix of the keys, or the schema. */
  readonly space: string
  readonly ms: number
  readonly rate: number
  readonly burst: number
  /** Callers in each of the four processes. */
  readonly callers: number
  readonly keys: number
}

export interface Hammered {
  /** The audit of one key: the one that exceeded its limit most or, if none did, came nearest to it. */
  readonly audit: Audit
  readonly calls: number
  readonly admitted: number
  /** How many answers came from where. */
  readonly sources: Readonly<Record<string, number>>
  /** For a single key without leases or batching: what the library's algorithm alone admits if it is called at the same instants. */
  readonly permitted: number | undefined
}

interface Report {
  readonly seen: readonly { readonly admitted: readonly number[]; readonly denied: readonly number[] }[]
  readonly sources: Readonly<Record<string, number>>
}

const PROCESSES = 4

/**
 * Starts four processes with several callers each. All call the same keys as fast as they can. What passed is merged, and audited for each
 * key.
 */
export async function hammer(hammering: Hammering): Promise<Hammered> {
  const { mode, rate, burst, keys } = hammering
  const workers = startWorkers('hammer.worker.mjs', PROCESSES)
  try {
    await workers.post({ ...hammering, rate: `${rate}/s` })
    const reports = (await workers.post({ go: true })) as Report[]
    const limit = tokenBucket({ rate: `${rate}/s`, burst })
    const merged = Array.from({ length: keys }, (_, key) => ({
      admitted: reports.flatMap(({ seen }) => seen[key]?.admitted ?? []),
      denied: reports.flatMap(({ seen }) => seen[key]?.denied ?? []),
    }))
    const audits = merged.map(({ admitted }) =>
      audit(
        admitted.map((at) => ({ at, cost: 1, allowed: true })),
        limit,
      ),
    )
    const sources: Record<string, number> = {}
    for (const one of reports) for (const [source, count] of Object.entries(one.sources)) sources[source] = (sources[source] ?? 0) + count
    return {
      audit: audits.reduce((worst, one) => (one.overGrant > worst.overGrant ? one : worst)),
      calls: Object.values(sources).reduce((sum, count) => sum + count, 0),
      admitted: merged.reduce((sum, { admitted }) => sum + admitted.length, 0),
      sources,
      permitted:
        mode === 'exact' && keys === 1 ? permittedAt([...(merged[0]?.admitted ?? []), ...(merged[0]?.denied ?? [])], limit) : undefined,
    }
  } finally {
    workers.stop()
  }
}

function permittedAt(instants: readonly number[], limit: AnyLimit): number {
  const reference = new Reference()
  const calls = [{ id: { scope: { text: 'hammer:' }, key: 'one' }, limit, cost: 1_000_000, phase: 0 }]
  return [...instants].sort((one, other) => one - other).filter((at) => reference.decide({ calls }, at).outcome === 'allowed').length
}
