import type { Redis } from 'ioredis'

/** What a server says of the programs it ran so far, EVALSHA and EVAL together. */
export interface ProgramStats {
  readonly calls: number
  /** Microseconds, those of the commands within them included. */
  readonly micros: number
}

export async function programStats(client: Redis): Promise<ProgramStats> {
  const stats = await client.info('commandstats')
  let [calls, micros] = [0, 0]
  for (const [, count, usec] of stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+),usec=(\d+)/gm)) {
    calls += Number(count)
    micros += Number(usec)
  }
  return { calls, micros }
}
