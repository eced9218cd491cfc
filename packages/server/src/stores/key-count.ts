import type { Cluster, Redis } from 'ioredis'

/** Undefined if the store cannot count. Reads at most `most` states. */
export type CountKeys = (most: number) => Promise<number | undefined>

/** Keys that one estimate reads, and milliseconds that its result is kept. */
const MOST = 1_000
const KEPT_MS = 60_000
/** Milliseconds that a scrape waits before it gets the previous result. */
const PATIENCE_MS = 250

/** Reads the number only at scrapes, at most once a minute. */
export function createKeyCount(count: CountKeys | undefined, now: () => number = () => performance.now()) {
  let [last, due]: [number | undefined, number] = [undefined, -Infinity]
  let reading: Promise<void> | undefined
  const read = async (): Promise<void> => {
    // An old result is not kept if the store no longer answers.
    last = await count?.(MOST).catch(() => undefined)
    reading = undefined
  }
  return {
    get last() {
      return last
    },
    /** @param isOurs false if another process of the service counts */
    async refresh(isOurs: boolean): Promise<void> {
      if (!isOurs) [last, due] = [undefined, -Infinity]
      if (!isOurs || count === undefined) return
      if (reading === undefined && now() >= due) {
        due = now() + KEPT_MS
        reading = read()
      }
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)))
      await Promise.race([reading, late])
      clearTimeout(timer)
    },
  }
}

/** Each new sample multiplies the weight of earlier ones by this factor: an estimate rests on about ten minutes. */
const FADING = 0.9

/** The number of all keys times the share of the prefix in a sample; exact if one SCAN sees all keys. */
export function countByScan(client: Redis | Cluster, prefix: string): CountKeys {
  const samples = new WeakMap<Redis, { cursor: string; seen: number; ours: number }>()
  const countOn = async (node: Redis, most: number): Promise<number> => {
    const sample = samples.get(node) ?? { cursor: '0', seen: 0, ours: 0 }
    samples.set(node, sample)
    const [all, [cursor, keys]] = await Promise.all([node.dbsize(), node.scan(sample.cursor, 'COUNT', most)])
    const ours = keys.filter((key) => key.startsWith(prefix)).length
    const isWhole = sample.cursor === '0' && cursor === '0'
    sample.cursor = cursor
    if (isWhole) [sample.seen, sample.ours] = [0, 0]
    sample.seen = sample.seen * FADING + keys.length
    sample.ours = sample.ours * FADING + ours
    return isWhole ? ours : sample.seen === 0 ? 0 : Math.round((all * sample.ours) / sample.seen)
  }
  let refused = false
  return async (most) => {
    if (refused) return undefined
    const nodes = 'nodes' in client ? client.nodes('master') : [client]
    try {
      const counts = await Promise.all(nodes.map((node) => countOn(node, Math.max(1, Math.floor(most / nodes.length)))))
      return counts.reduce((sum, one) => sum + one, 0)
    } catch (error) {
      // Each attempt would add an entry to the server's ACL LOG.
      refused = error instanceof Error && error.message.startsWith('NOPERM')
      return undefined
    }
  }
}

type FirstRow = (statement: string, parameter: number) => Promise<unknown>

/** Exact below `most` rows, else from the server's statistics. Expired states count until they are deleted. */
export function countByStatistics(first: FirstRow): CountKeys {
  const statement = `select (select count(*) from (select from sluice_state limit $1) as few)::float8 as counted,
    greatest(pg_stat_get_live_tuples('sluice_state'::regclass), (select reltuples from pg_class where oid = 'sluice_state'::regclass))::float8
      as estimate`
  return async (most) => {
    const { counted, estimate } = (await first(statement, most)) as { counted: number; estimate: number }
    return counted < most ? counted : Math.max(counted, Math.round(estimate))
  }
}
