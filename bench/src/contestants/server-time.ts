import type { Redis } from 'ioredis'

/** The server's clock, in microseconds since 1970. */
export async function serverTime(client: Redis): Promise<number> {
  return microsOf(await client.time())
}

/** The reply of TIME, in microseconds. */
export function microsOf([seconds, micros]: readonly (string | number)[]): number {
  return Number(seconds) * 1e6 + Number(micros)
}
