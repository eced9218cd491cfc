import { availableParallelism } from 'node:os'
import type { Quota } from '../contestants/contestant.ts'
import { disturbanceMeter, disturbedBy } from '../machine/disturbance.ts'
import { scheduleOf } from '../machine/processor.ts'
import type { Part, PartOptions, PartResult } from '../part.ts'
import { type Way, wayOf } from '../redis/ways.ts'
import type { OverGrant } from '../result/table.ts'
import { ceilingResult, type Lifted } from './ceiling-tables.ts'
import { TERMS } from './compared.ts'
import { type Crowd, startCrowd } from './crowd.ts'
import { overGrantOf } from './drifts.ts'

const CALLERS = 64
const KEYS = 1_000
/** A limit so high that no request is denied, and that each lease is as large as a process can use. */
const GENEROUS: Quota = { tokens: 1_000_000, per: '1s', burst: 10_000_000 }
const WAYS: readonly Way[] = ['rate-limit-lua', 'bare', 'sluice', 'leases']

/**
 * Measures the most decisions a second of this machine, and computes how many processes and Redis threads a million a second would need.
 */
export const ceiling: Part = {
  name: 'ceiling',
  title: `decisions a second of all processes on one Redis, ${CALLERS} callers in each`,
  async run(options): Promise<PartResult> {
    const { engines, depth, seconds, say } = options
    const server = await engines.redis()
    const schedule = scheduleOf(server.pid)
    const cores = Math.max(2, availableParallelism())
    const quick = depth === 'quick'
    const counts = quick ? [1, cores] : Array.from({ length: Math.min(cores, 8) }, (_, index) => index + 1)
    const crowd = await startCrowd(Math.max(...counts), options)
    const found: Lifted[] = []
    for (let round = 0; round < (quick ? 2 : 3); round += 1)
      for (const keys of quick ? [1] : [1, KEYS])
        for (const processes of counts)
          for (const way of round % 2 === 0 ? WAYS : WAYS.toReversed()) {
            if (round === 0) say(`${way}, processes: ${processes}, keys: ${keys}`)
            const key = `ceiling:${way}:${keys}`
            const times = { ms: Math.ceil(250 + seconds * 350), warmUpMs: Math.ceil(150 + seconds * 150) }
            const [before, meter] = [schedule().ran, disturbanceMeter()]
            meter.begin()
            const sent = await crowd.press(
              { url: server.url, way, quota: GENEROUS, key, keys, callers: CALLERS, note: false, ...times },
              processes,
            )
            meter.end()
            found.push({ way, keys, processes, sent, serverNs: schedule().ran - before, ...disturbedBy(meter) })
          }
    const over = await overGrants(server.url, crowd, options)
    crowd.end()
    return ceilingResult(found, over)
  },
}

/** Measures the over-grant of every limiter in several processes, under a limit of an eighth of their requests. */
async function overGrants(url: string, crowd: Crowd, { say }: PartOptions): Promise<Map<Way, OverGrant>> {
  const found = new Map<Way, OverGrant>()
  for (const way of WAYS) {
    say(`over-grant of ${way}`)
    const load = { url, way, quota: TERMS.METERED, key: `over:${way}`, perSecond: TERMS.FLOOD.perSecond, ms: TERMS.FLOOD.ms }
    found.set(way, overGrantOf(wayOf(way), await crowd.flood(load)))
  }
  return found
}
