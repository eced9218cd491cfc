import type { Redis } from 'ioredis'

/** Keys under a prefix that would never go away by themselves. */
export async function immortal(client: Redis, prefix: string): Promise<string[]> {
  const found: string[] = []
  let cursor = '0'
  do {
    const [next, keys] = await client.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 1_000)
    cursor = next
    for (const key of keys) if ((await client.pttl(key)) === -1) found.push(key)
  } while (cursor !== '0')
  return found
}
