import { tokenBucket } from '../../src/index.ts'
import { type Audit, audit, Reference, type TraceEntry } from '../../src/testing/index.ts'
import { startWorkers } from './workers.ts'

export interface Hammering {
  readonly kind: 'redis' | 'postgres'
  readonly url: string
  /** Prefix of the keys, or the schema. */
  readonly space: string
  readonly ms: number
}

export interface Hammered {
  readonly audit: Audit
  readonly calls: number
  readonly admitted: number
  /** What the kernel alone admits when it is asked at the same instants: how late a process got to ask changes nothing in it. */
  readonly permitted: number
}

const RATE = 100
const BURST = 50
const PROCESSES = 4
const CALLERS = 4

/** Four processes with several callers each ask one key as fast as they can; their verdicts are merged and audited. */
export async function hammer({ kind, url, space, ms }: Hammering): Promise<Hammered> {
  const workers = startWorkers('hammer.worker.mjs', PROCESSES)
  try {
    await workers.tell({ kind, url, space, rate: `${RATE}/s`, burst: BURST, callers: CALLERS, ms })
    const verdicts = await workers.tell({ go: true })
    return judge((verdicts as number[][]).flat())
  } finally {
    workers.stop()
  }
}

function judge(verdicts: readonly number[]): Hammered {
  const limit = tokenBucket({ rate: `${RATE}/s`, burst: BURST })
  const trace: TraceEntry[] = verdicts.map((at) => ({ at: Math.abs(at), cost: 1, allowed: at > 0 }))
  const reference = new Reference()
  const calls = [{ id: { scope: { text: 'hammer:' }, key: 'one' }, limit, cost: 1_000_000, phase: 0 }]
  const instants = trace.map(({ at }) => at).sort((one, other) => one - other)
  return {
    audit: audit(trace, limit),
    calls: trace.length,
    admitted: trace.filter((entry) => entry.allowed).length,
    permitted: instants.filter((at) => reference.decide({ calls }, at).allowed).length,
  }
}
