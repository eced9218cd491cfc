import { findRedis } from '@sluice/scripts/engines'
import { inject } from 'vitest'
import { type PrivateRedis, startPrivateRedis } from './redis-server.ts'

export { advised, advisedBySentinel, advisedCluster, type Greeting, type PrivateRedis } from './redis-server.ts'

const found = inject('engines').redis === undefined ? undefined : findRedis()

/** Where there is no server program, faults cannot be made. */
export const noRedis: boolean = found === undefined || 'missing' in found

/** @throws if it is not installed */
export function redisProgram(): string {
  if (found === undefined || 'missing' in found) throw new Error('there is no redis-server')
  return found.path
}

/**
 * Starts a Redis that one test has for itself. `chosen` is a port, so that the server can be started again at the same place. `file` has
 * settings.
 */
export async function privateRedis(extra: readonly string[] = [], chosen?: number, file?: string): Promise<PrivateRedis> {
  return startPrivateRedis(redisProgram(), extra, chosen, file)
}
