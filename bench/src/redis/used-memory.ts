import type { Redis } from 'ioredis'

/** The bytes that the server has allocated (`used_memory` of INFO): keys, names, expiry and hash tables included. */
export async function usedMemory(client: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1])
}
