import { OPEN_PARTS } from '../open/part.ts'
import type { Suite } from './suite.ts'

/**
 * Measures latency under requests that arrive independently of earlier answers. Callers that wait for their answers cannot show this
 * latency.
 */
export const open: Suite = {
  name: 'open',
  title: 'requests that come by chance (Poisson), at half and nine tenths of capacity',
  summary: 'latency under Poisson arrivals at half and nine tenths of capacity, on Redis and PostgreSQL',
  parts: OPEN_PARTS,
  seconds: { quick: 0.4, full: 2.4 },
  // A commit does not wait for the disk, because the wait would hide the measured costs.
  postgres: ['synchronous_commit=off'],
}
