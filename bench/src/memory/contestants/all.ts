import { articleBucket } from './article-bucket.ts'
import { articleQueue } from './article-queue.ts'
import { articleWindow } from './article-window.ts'
import type { MemoryContestant } from './contestant.ts'
import { expressStore } from './express-store.ts'
import { fastifyPlugin } from './fastify-plugin.ts'
import { flexible } from './flexible.ts'
import { honoStore } from './hono-store.ts'
import { limiterBucket, rateLimiter } from './limiter.ts'
import { awaited, bareTable, clock, map } from './plain.ts'
import { sluiceBucket, sluiceLog, sluiceWindow } from './sluice-algorithms.ts'
import { sluice, sluiceSync } from './sluice.ts'

/** The names of the contestants. A child process gets the name of the one that it runs. */
export type ContestantName =
  | 'map'
  | 'sluice-sync'
  | 'sluice'
  | 'flexible'
  | 'express-store'
  | 'fastify-plugin'
  | 'hono-store'
  | 'limiter-rate'
  | 'limiter-bucket'
  | 'bare-table'
  | 'clock'
  | 'awaited'
  | 'article-bucket'
  | 'sluice-bucket'
  | 'article-window'
  | 'sluice-window'
  | 'article-queue'
  | 'sluice-log'

const CONTESTANTS: Readonly<Record<ContestantName, MemoryContestant>> = {
  map,
  'sluice-sync': sluiceSync,
  sluice,
  flexible,
  'express-store': expressStore,
  'fastify-plugin': fastifyPlugin,
  'hono-store': honoStore,
  'limiter-rate': rateLimiter,
  'limiter-bucket': limiterBucket,
  'bare-table': bareTable,
  clock,
  awaited,
  'article-bucket': articleBucket,
  'sluice-bucket': sluiceBucket,
  'article-window': articleWindow,
  'sluice-window': sluiceWindow,
  'article-queue': articleQueue,
  'sluice-log': sluiceLog,
}

/** The contestants of the suite `memory`, floors included. The first is the baseline. */
export const NAMES: readonly ContestantName[] = [
  'map',
  'sluice-sync',
  'sluice',
  'flexible',
  'express-store',
  'fastify-plugin',
  'hono-store',
  'limiter-rate',
  'limiter-bucket',
  'bare-table',
  'clock',
  'awaited',
]

export function contestantOf(name: ContestantName): MemoryContestant {
  return CONTESTANTS[name]
}
