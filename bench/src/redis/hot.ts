import { ALLOWED } from '../embedded/profiles.ts'
import type { Reading } from '../reading.ts'
import { compare, judge, storeCalls } from './comparison.ts'
import type { RedisPart } from './redis-part.ts'

const CALLERS = [64, 256] as const
/** The goals stand for 64 callers; with 256 more calls find company, and the figure is told. */
const JUDGED = 64

/** One key that everybody asks, and leases that each caller has on its own. */
export const hot: RedisPart = {
  name: 'hot',
  title: 'one hot key, against one EVALSHA per decision on a hash of two fields',
  async run(options) {
    const readings: Reading[] = []
    const notes: string[] = []
    for (const callers of CALLERS) {
      options.say(`one key, ${callers} callers`)
      const one = { callers, keys: 'one' } as const
      const own = { callers, keys: 'own' } as const
      const comparison = await compare(options, ALLOWED, {
        lua: { way: 'lua', ...one },
        plain: { way: 'sluice', ...one },
        coalescing: { way: 'coalescing', ...one },
        leases: { way: 'leases', ...one },
        resilient: { way: 'resilient', ...one },
        coalescingStore: { way: 'coalescing-store', ...one },
        leasesStore: { way: 'leases-store', ...one },
        luaOwn: { way: 'lua', ...own },
        leasesOwn: { way: 'leases', ...own },
        joined: { way: 'empty-joined', ...one },
        clock: { way: 'clock', ...one },
      })
      const goals = callers === JUDGED
      const at = `${callers} callers`
      readings.push(
        judge(comparison, { name: `plain, ${at}`, ours: 'plain', baseline: 'lua', as: 'speed' }),
        judge(comparison, {
          name: `coalescing, ${at}`,
          ours: 'coalescing',
          baseline: 'lua',
          floor: 'joined',
          as: 'speed',
          ...(goals ? { goal: { atLeast: 4.5 } } : {}),
        }),
        judge(comparison, { name: `coalescing, ${at}, its store alone`, ours: 'coalescingStore', baseline: 'lua', as: 'speed' }),
        storeCalls(comparison, {
          name: `coalescing, ${at}, store calls`,
          ours: 'coalescing',
          baseline: 'lua',
          ...(goals ? { goal: { atMost: 0.05 } } : {}),
        }),
        judge(comparison, {
          name: `strict leases, ${at}`,
          ours: 'leases',
          baseline: 'lua',
          floor: 'clock',
          as: 'speed',
          ...(goals ? { goal: { atLeast: 15 } } : {}),
        }),
        judge(comparison, { name: `strict leases, ${at}, its store alone`, ours: 'leasesStore', baseline: 'lua', as: 'speed' }),
        storeCalls(comparison, {
          name: `strict leases, ${at}, store calls`,
          ours: 'leases',
          baseline: 'lua',
          ...(goals ? { goal: { atMost: 0.02 } } : {}),
        }),
        judge(comparison, { name: `resilient, ${at}`, ours: 'resilient', baseline: 'lua', as: 'speed' }),
        judge(comparison, {
          name: `strict leases, ${at}, a key each`,
          ours: 'leasesOwn',
          baseline: 'luaOwn',
          floor: 'clock',
          as: 'speed',
          ...(goals ? { goal: { atLeast: 25 } } : {}),
        }),
      )
      notes.push(`${at}:`, comparison.table)
    }
    return { readings, notes }
  },
}
