import type { RedisServer } from '../engines.ts'
import type { Part, PartOptions, PartResult } from '../part.ts'
import { type GrantOf, redisGrants } from './taken-grants.ts'

export interface RedisOptions extends PartOptions {
  readonly server: RedisServer
  /** The audit of a way under a load, which is made once in a run. */
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
