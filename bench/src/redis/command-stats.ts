import type { Redis } from 'ioredis'

/** The statistics of the programs that a server has run so far, EVALSHA and EVAL together. */
export interface ProgramStats {
  readonly calls: number
  /** Microseconds, with the commands that the programs called. */
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
