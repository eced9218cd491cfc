import type { RedisPart } from './redis-part.ts'

/** How often the servers of a cluster are asked for one request under several limits. */
export const cluster: RedisPart = {
  name: 'cluster',
  title: 'global, tenant and endpoint for one request in a cluster: round trips',
  async run() {
    return { readings: [{ name: 'round trips', absent: 'this version has no store for a cluster' }], notes: [] }
  },
}
