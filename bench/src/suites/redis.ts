import { cluster } from '../redis/cluster.ts'
import { denied } from '../redis/denied.ts'
import { different } from '../redis/different.ts'
import { holds } from '../redis/holds.ts'
import { hot } from '../redis/hot.ts'
import { memory } from '../redis/memory.ts'
import { oneCaller } from '../redis/one-caller.ts'
import { peers } from '../redis/peers.ts'
import { redisPart } from '../redis/redis-part.ts'
import { redisTime } from '../redis/redis-time.ts'
import { regions } from '../redis/regions.ts'
import { rules } from '../redis/rules.ts'
import type { Suite } from './suite.ts'

/** Measures the Redis store and its ring against their goals, each with a baseline, a floor and the over-grant. */
export const redis: Suite = {
  name: 'redis',
  title: 'the Redis store and its ring, compared with other ways and other libraries',
  summary: 'what the Redis store and its ring must reach, as ratios on one private redis-server',
  parts: [hot, different, oneCaller, redisTime, denied, memory, rules, holds, regions, peers, cluster].map(redisPart),
  seconds: { quick: 0.45, full: 1.5 },
}
