import type { Redis } from 'ioredis'
import { groupOf, type KeyGroup } from './limit-name.ts'
import { isRefusal } from './refusals.ts'
import type { AuditRequest, LimitUse } from './report.ts'

/** Keys in one step of SCAN, and how many of them have their bytes measured. */
const STEP = 1_000
const MEASURED = 20

interface Count extends KeyGroup {
  keys: number
  withoutExpiry: number
  measured: number
  bytes: number
}

export interface KeysFound {
  readonly limits: readonly LimitUse[]
  readonly looked: { readonly at: number; readonly of: number }
  /** Commands that the account may not call. */
  readonly refused: readonly string[]
}

/**
 * Stops when SCAN has looked at about `maxKeys` keys. SCAN follows the order of the keys' hashes, so the keys found until then are a fair
 * sample.
 */
export async function countKeys(nodes: readonly Redis[], { maxKeys, prefix, progress }: AuditRequest): Promise<KeysFound> {
  const refused = new Set<string>()
  const sizes = await Promise.all(nodes.map((node) => node.dbsize().catch((error: unknown) => unknown(error, refused))))
  const of = sizes.reduce((sum, size) => sum + size, 0)
  const total = Math.min(of, maxKeys)
  const limits = new Map<string, LimitUse>()
  let at = 0
  for (const [index, node] of nodes.entries()) {
    const share = Math.ceil((maxKeys * Math.max(1, sizes[index] as number)) / Math.max(1, of))
    const before = at
    const { counts, seen } = await scanned(node, prefix, share, refused, (done) => progress(Math.min(total, before + done), total))
    const size = sizes[index] as number
    at += Math.min(seen, size)
    for (const [name, count] of counts) addTo(limits, name, count, seen >= size ? 1 : size / Math.max(1, seen))
  }
  progress(total, total)
  const sorted = [...limits.values()].sort((a, b) => b.keys - a.keys)
  return { limits: sorted, looked: { at, of }, refused: [...refused] }
}

/** 0 if the account may not read the size. @throws every other error */
function unknown(error: unknown, refused: Set<string>): number {
  if (!isRefusal(error)) throw error
  refused.add('dbsize')
  return 0
}

async function scanned(node: Redis, prefix: string, most: number, refused: Set<string>, progress: (done: number) => void) {
  const counts = new Map<string, Count>()
  let [cursor, seen] = ['0', 0]
  do {
    const step = await node.call('scan', cursor, 'match', `${globOf(prefix)}*`, 'count', STEP).catch((error: unknown) => {
      if (!isRefusal(error)) throw error
      refused.add('scan')
    })
    if (step === undefined) return { counts, seen }
    const [next, keys] = step as [string, string[]]
    await countStep(node, prefix, keys, counts, refused)
    cursor = next
    seen += STEP
    progress(seen)
  } while (cursor !== '0' && seen < most)
  return { counts, seen: cursor === '0' ? Infinity : seen }
}

async function countStep(node: Redis, prefix: string, keys: readonly string[], counts: Map<string, Count>, refused: Set<string>) {
  if (keys.length === 0) return
  const every = Math.max(1, Math.ceil(keys.length / MEASURED))
  const pipeline = node.pipeline()
  for (const key of keys) pipeline.pttl(key)
  const measured = refused.has('memory|usage') ? [] : keys.filter((_, index) => index % every === 0)
  for (const key of measured) pipeline.call('memory', 'usage', key)
  const replies = (await pipeline.exec()) ?? []
  const bytesOf = new Map<string, number>()
  for (const [index, key] of measured.entries()) {
    const [error, bytes] = replies[keys.length + index] ?? []
    if (isRefusal(error)) refused.add('memory|usage')
    else if (typeof bytes === 'number') bytesOf.set(key, bytes)
  }
  for (const [index, key] of keys.entries()) {
    // `$salt` holds one random number for each prefix, used by `onFull: 'shared'`. It has no expiry on purpose.
    if (key === `${prefix}$salt`) continue
    const [error, ttl] = replies[index] ?? []
    if (isRefusal(error)) refused.add('pttl')
    // The key has expired since SCAN returned it.
    if (ttl === -2) continue
    const group = groupOf(key.slice(prefix.length))
    const name = `${group.limit} ${group.algorithm}`
    const count = counts.get(name) ?? { ...group, keys: 0, withoutExpiry: 0, measured: 0, bytes: 0 }
    counts.set(name, count)
    count.keys += 1
    if (ttl === -1) count.withoutExpiry += 1
    const bytes = bytesOf.get(key)
    if (bytes === undefined) continue
    count.measured += 1
    count.bytes += bytes
  }
}

function addTo(limits: Map<string, LimitUse>, name: string, count: Count, factor: number): void {
  const before = limits.get(name)
  const bytes = count.measured === 0 ? undefined : Math.round((count.bytes / count.measured) * count.keys * factor)
  limits.set(name, {
    limit: count.limit,
    algorithm: count.algorithm,
    keys: (before?.keys ?? 0) + Math.round(count.keys * factor),
    withoutExpiry: (before?.withoutExpiry ?? 0) + Math.round(count.withoutExpiry * factor),
    ...(bytes === undefined && before?.bytes === undefined ? {} : { bytes: (before?.bytes ?? 0) + (bytes ?? 0) }),
  })
}

/** A prefix as a pattern that matches only itself. */
function globOf(prefix: string): string {
  return prefix.replaceAll(/[*?[\]\\^]/g, String.raw`\$&`)
}
