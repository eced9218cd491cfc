import rateLimit from '@fastify/rate-limit'
import { fastify, type FastifyRequest } from 'fastify'
import { windowOf } from '../../contestants/contestant.ts'
import { inTurnAwaited, type MemoryContestant, unitByUnit } from './contestant.ts'

/**
 * The plugin @fastify/rate-limit with its default store, in an application of its own for each limit. It is called through its
 * `createRateLimit`, which decides without Fastify's routing and without header fields. Its store keeps 5,000 keys by default and forgets
 * the others; here it keeps all.
 */
export const fastifyPlugin: MemoryContestant = {
  name: '@fastify/rate-limit',
  kind: 'peer',
  promise: 'window',
  awaited: true,
  open: async (quotas, { keys }) => {
    const counters = quotas.map(async (quota) => {
      const app = fastify()
      const window = { max: quota.burst, timeWindow: windowOf(quota) * 1_000 }
      await app.register(rateLimit, { global: false, ...window, cache: Math.max(5_000, keys), keyGenerator: (request) => request.id })
      await app.ready()
      const check = app.createRateLimit()
      return unitByUnit(async (key) => {
        // The plugin reads only these fields of a request: the source of the key, and the settings of the route, which are empty here.
        const answer = await check({ id: key, routeOptions: {} } as FastifyRequest)
        return answer.isAllowed || !answer.isExceeded
      })
    })
    return { decide: inTurnAwaited(await Promise.all(counters)) }
  },
}
