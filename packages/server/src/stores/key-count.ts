import type { Cluster, Redis } from 'ioredis'

/** Counts the states in a store, or estimates their number; undefined if the store cannot do either. It reads at most `most` states. */
export type CountKeys = (most: number) => Promise<number | undefined>

/** How many keys a service reads to estimate the number of keys, and for how many milliseconds it keeps the result. */
const MOST = 1_000
const KEPT_MS = 60_000
/** Milliseconds that a scrape waits for a new result. After this time it gets the previous result. */
const PATIENCE_MS = 250

/** Caches the number of keys. A scrape reads it again if it is older than a minute. Nothing is read if nobody scrapes. */
export function createKeyCount(count: CountKeys | undefined, now: () => number = () => performance.now()) {
  let [last, due]: [number | undefined, number] = [undefined, -Infinity]
  let reading: Promise<void> | undefined
  const read = async (): Promise<void> => {
    // If the store no longer answers, the old result is not kept.
    last = await count?.(MOST).catch(() => undefined)
    reading = undefined
  }
  return {
    get last() {
      return last
    },
    /** Called before a scrape. @param isOurs false if another process of the service counts; then this one has no result */
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

/** The factor by which each new sample reduces the weight of the earlier ones: an estimate rests on about ten minutes. */
const FADING = 0.9

/**
 * Estimates the keys with a prefix on a server, or on the primaries of a cluster: the number of all keys times the share of the prefix in a
 * sample by SCAN. If one SCAN sees all keys, the number is exact.
 */
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
      // A refused account does not try again, because each attempt adds an entry to the server's ACL LOG.
      refused = error instanceof Error && error.message.startsWith('NOPERM')
      return undefined
    }
  }
}

/** Runs a statement with one number as its parameter, and returns its first row. */
type FirstRow = (statement: string, parameter: number) => Promise<unknown>

/**
 * Counts rows up to `most`. If there are more, uses the number in the server's statistics. Rows whose state has expired count until the
 * sweep deletes them.
 */
export function countByStatistics(first: FirstRow): CountKeys {
  const statement = `select (select count(*) from (select from sluice_state limit $1) as few)::float8 as counted,
    greatest(pg_stat_get_live_tuples('sluice_state'::regclass), (select reltuples from pg_class where oid = 'sluice_state'::regclass))::float8
      as estimate`
  return async (most) => {
    const { counted, estimate } = (await first(statement, most)) as { counted: number; estimate: number }
    return counted < most ? counted : Math.max(counted, Math.round(estimate))
  }
}
