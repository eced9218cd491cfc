import { CALLS, coldPostgres, coldRedis } from '../cold/part.ts'
import type { Suite } from './suite.ts'

/** Measures the costs of a process that has just started: a cloud function, a command, or a restarted server. */
export const cold: Suite = {
  name: 'cold',
  title: 'a process that has just begun',
  summary: `the first ${CALLS} requests of a fresh process on Redis and PostgreSQL, with its imports`,
  parts: [coldRedis, coldPostgres],
  seconds: { quick: 2.5, full: 15 },
  // A commit does not wait for the disk, because the wait would hide the measured costs.
  postgres: ['synchronous_commit=off'],
}
