import { redisPart } from '../redis/redis-part.ts'
import { bottomLine } from '../seed-003/bottom-line.ts'
import { clocks } from '../seed-003/clocks.ts'
import { contention } from '../seed-003/contention.ts'
import { lessons } from '../seed-003/lessons.ts'
import { overGrant } from '../seed-003/over-grant.ts'
import type { Suite } from './suite.ts'

/** The comparison of the article "Benchmarking Token Bucket Rate Limiters", measured anew, with Sluice as one more contestant. */
export const seed003: Suite = {
  name: 'seed-003',
  title: 'three ways of keeping a token bucket in Redis, and Sluice',
  summary: 'the tables and lessons of Benchmarking Token Bucket Rate Limiters',
  document: 'Benchmarking Token Bucket Rate Limiters',
  parts: [contention, overGrant, bottomLine, clocks, lessons].map(redisPart),
  seconds: { quick: 0.5, full: 1.4 },
}
