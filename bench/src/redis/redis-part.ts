import type { RedisServer } from '../engines.ts'
import type { Part, PartOptions, PartResult } from '../part.ts'
import { type GrantOf, redisGrants } from './taken-grants.ts'

export interface RedisOptions extends PartOptions {
  readonly server: RedisServer
  /** Measures the over-grant of a limiter with a number of callers. It is measured once in a run and then remembered. */
  readonly grantOf: GrantOf
}

export interface RedisPart extends Omit<Part, 'run'> {
  run(options: RedisOptions): Promise<PartResult>
}

/** A part that measures against the private redis-server of the run. */
export function redisPart({ name, title, run }: RedisPart): Part {
  return {
    name,
    title,
    async run(options) {
      const server = await options.engines.redis()
      return run({ ...options, server, grantOf: redisGrants(server.url, options) })
    },
  }
}
