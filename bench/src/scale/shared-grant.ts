import type { TraceEntry } from 'sluice/testing'
import { inChild } from '../in-child.ts'
import { closedLoop } from '../load.ts'
import { auditPromise, percentOf } from '../over-grant.ts'
import type { PartOptions } from '../part.ts'
import { type Way, wayOf } from '../redis/ways.ts'

/** Burst 10 and 10 a second, as in the article "Benchmarking Token Bucket Rate Limiters", but several processes share the key. */
const QUOTA = { tokens: 10, per: '1s', burst: 10 } as const
const CALLERS = 16
/** Milliseconds until all processes have started. */
const START_MS = 1_500

export interface SharedGrantInput {
  readonly url: string
  readonly way: Way
  readonly key: string
  readonly seconds: number
  /** When the callers begin, in milliseconds since 1970. */
  readonly at: number
}

/** Calls one key from this process, while others call it too. Resolves with what was admitted, by the server's clock. */
export async function admitShared({ url, way, key, seconds, at }: SharedGrantInput): Promise<readonly TraceEntry[]> {
  const running = await wayOf(way).open(url, QUOTA, { callers: CALLERS, note: true })
  await new Promise((resolve) => setTimeout(resolve, at - Date.now()))
  await closedLoop(CALLERS, seconds * 1_000, async (caller) => running.passed(await running.invoke(key, caller)))
  await running.close([])
  if (running.admitted === undefined) throw new Error(`${way} reported no instants`)
  return running.admitted
}

/** The over-grant in percent of one key that several processes call at the same time. */
export async function sharedOverGrant(
  way: Way,
  { url, processes }: { readonly url: string; readonly processes: number },
  options: Pick<PartOptions, 'seconds' | 'atEnd'>,
): Promise<number> {
  const seconds = Math.min(1, options.seconds)
  const input: SharedGrantInput = { url, way, key: `scale:${way}:${processes}`, seconds, at: Date.now() + START_MS }
  const traces = await Promise.all(
    Array.from({ length: processes }, () => inChild<TraceEntry[]>('shared-grant', input, { ...options, family: 'scale' })),
  )
  const contestant = wayOf(way)
  const trace = traces.flat().toSorted((one, other) => one.at - other.at)
  const found = auditPromise(trace, contestant.promise ?? 'bucket', QUOTA)
  return percentOf(found, contestant)
}
