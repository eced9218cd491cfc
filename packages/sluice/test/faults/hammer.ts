import { tokenBucket } from '../../src/index.ts'
import { audit, Reference, type TraceEntry } from '../../src/testing/index.ts'
import { startWorkers } from './workers.ts'

export interface Hammering {
  readonly kind: 'redis' | 'postgres'
  readonly url: string
  /** Prefix of the keys, or the schema. */
  readonly space: string
  readonly ms: number
  /** How the processes ask; default `exact`: each call is one of the store. */
  readonly mode?: 'exact' | 'coalesced' | 'leases'
  /** Default one. */
  readonly keys?: number
  /** Callers of one process; default four. */
  readonly callers?: number
}

export interface Hammered {
  /** Tokens admitted too much, of the key where it was most. */
  readonly overGrant: number
  readonly calls: number
  readonly admitted: number
  /** What the kernel alone admits when it is asked at the same instants: how late a process got to ask changes nothing in it. */
  readonly permitted: number
}

const PROCESSES = 4
/** Limits that deny most calls of those who ask as fast as they can. */
const ONE_KEY = { rate: '100/s', burst: 50 }
const MANY_KEYS = { rate: '5/s', burst: 5 }

/** Four processes with several callers each ask as fast as they can; their verdicts are merged key by key and audited. */
export async function hammer({ kind, url, space, ms, mode = 'exact', keys = 1, callers = 4 }: Hammering): Promise<Hammered> {
  const workers = startWorkers('hammer.worker.mjs', PROCESSES)
  const rates = keys === 1 ? ONE_KEY : MANY_KEYS
  try {
    await workers.tell({ kind, url, space, mode, keys, callers, ms, ...rates })
    const told = (await workers.tell({ go: true })) as number[][][]
    const judged = Array.from({ length: keys }, (_, key) =>
      judge(
        rates,
        told.flatMap((verdicts) => verdicts[key] as number[]),
      ),
    )
    return judged.reduce((sum, one) => ({
      overGrant: Math.max(sum.overGrant, one.overGrant),
      calls: sum.calls + one.calls,
      admitted: sum.admitted + one.admitted,
      permitted: sum.permitted + one.permitted,
    }))
  } finally {
    workers.stop()
  }
}

function judge(rates: typeof ONE_KEY, verdicts: readonly number[]): Hammered {
  const limit = tokenBucket(rates)
  const trace: TraceEntry[] = verdicts.map((at) => ({ at: Math.abs(at), cost: 1, allowed: at > 0 }))
  const reference = new Reference()
  const calls = [{ id: { scope: { text: 'hammer:' }, key: 'one' }, limit, cost: 1_000_000, phase: 0 }]
  const instants = trace.map(({ at }) => at).sort((one, other) => one - other)
  return {
    overGrant: audit(trace, limit).overGrant,
    calls: trace.length,
    admitted: trace.filter((entry) => entry.allowed).length,
    permitted: instants.filter((at) => reference.decide({ calls }, at).allowed).length,
  }
}
