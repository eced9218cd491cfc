import type { Part, PartOptions } from '../part.ts'
import type { PrivateServer } from '../server.ts'
import type { Grant } from './grants.ts'
import type { Way } from './ways.ts'

export interface RedisOptions extends PartOptions {
  readonly server: PrivateServer
  /** The audit of a way, taken once a run. */
  readonly grantOf: (way: Way) => Promise<Grant>
}

export type RedisPart = Part<RedisOptions>
