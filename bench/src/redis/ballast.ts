import { Redis } from 'ioredis'
import type { RedisOptions } from './redis-part.ts'

/** Loads of fewer keys need none. */
const FEW = 10_000
/** Keys that one program makes. */
const CHUNK = 50_000
const FILL = "for i = ARGV[1], ARGV[2] do redis.call('SET', 'ballast:' .. i, '1234567890123456') end return 1"

/**
 * Runs the work while the server holds `keys` other keys, so that the server's hash tables have their full size from the first request on.
 * The server is empty afterwards.
 */
export async function withBallast<Result>({ server }: RedisOptions, keys: number, work: () => Promise<Result>): Promise<Result> {
  if (keys < FEW) return work()
  const client = new Redis(server.url)
  try {
    for (let from = 1; from <= keys; from += CHUNK) await client.eval(FILL, 0, from, Math.min(keys, from + CHUNK - 1))
    return await work()
  } finally {
    await client.flushall()
    await client.quit()
  }
}
