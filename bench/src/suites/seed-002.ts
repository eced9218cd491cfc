import { redisPart } from '../redis/redis-part.ts'
import { boundary } from '../seed-002/boundaries.ts'
import { inProcess } from '../seed-002/in-process.ts'
import { redisLua } from '../seed-002/redis-lua.ts'
import type { Suite } from './suite.ts'

/** The limiters of the article "Rate limiting in Clojure and Redis Lua" against Sluice. */
export const seed002: Suite = {
  name: 'seed-002',
  title: 'window, queue and bucket in process, and a bucket in Redis Lua',
  summary: 'time, memory and boundaries of the limiters in Rate limiting in Clojure and Redis Lua',
  document: 'Rate limiting in Clojure and Redis Lua',
  parts: [inProcess, boundary, redisPart(redisLua)],
  seconds: { quick: 0.35, full: 2 },
}
