import { DENIED } from '../profiles.ts'
import { compare, judge } from './comparison.ts'
import type { RedisPart } from './redis-part.ts'

/** Measures clients that go on sending requests after they were denied. */
export const denied: RedisPart = {
  name: 'denied',
  title: 'a denied flood on one key, 64 callers, against one EVALSHA per decision',
  async run(options) {
    options.say('a denied flood, 64 callers')
    const one = { callers: 64, keys: 'one' } as const
    const comparison = await compare(options, DENIED, {
      lua: { way: 'lua', ...one },
      bare: { way: 'bare', ...one },
      cache: { way: 'denied-cache', ...one },
      cacheStore: { way: 'denied-cache-store', ...one },
      sluice: { way: 'sluice', ...one },
      blocking: { way: 'flexible-blocking', ...one },
      clock: { way: 'clock-denied', ...one },
    })
    return {
      readings: [
        judge(comparison, { name: 'bare', ours: 'bare', baseline: 'lua', as: 'speed' }),
        judge(comparison, { name: 'denied-cache', ours: 'cache', baseline: 'lua', floor: 'clock', as: 'speed', goal: { atLeast: 30 } }),
        judge(comparison, { name: 'denied-cache, its store alone', ours: 'cacheStore', baseline: 'lua', as: 'speed' }),
        judge(comparison, { name: 'Sluice', ours: 'sluice', baseline: 'lua', floor: 'clock', as: 'speed' }),
        judge(comparison, { name: 'denied-cache against a peer that blocks in memory', ours: 'cache', baseline: 'blocking', as: 'speed' }),
      ],
      tables: [comparison.table],
    }
  },
}
