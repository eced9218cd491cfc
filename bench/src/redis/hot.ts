import { ALLOWED } from '../profiles.ts'
import type { PartResult } from '../part.ts'
import type { Reading } from '../result/reading.ts'
import { compare, judge, storeCalls } from './comparison.ts'
import type { RedisOptions, RedisPart } from './redis-part.ts'

/** Measures one key for all callers, and leases with a key for each caller. */
export const hot: RedisPart = {
  name: 'hot',
  title: 'one hot key, against one EVALSHA per decision on a hash of two fields',
  async run(options) {
    const few = await judged(options)
    if (options.depth === 'quick') return few
    const many = await crowd(options)
    return { readings: [...few.readings, ...many.readings], tables: [...few.tables, ...many.tables] }
  },
}

async function judged(options: RedisOptions): Promise<Required<Pick<PartResult, 'readings' | 'tables'>>> {
  options.say('one key, 64 callers')
  const one = { callers: 64, keys: 'one' } as const
  const own = { callers: 64, keys: 'own' } as const
  const comparison = await compare(options, ALLOWED, {
    lua: { way: 'lua', ...one },
    bare: { way: 'bare', ...one },
    coalescing: { way: 'coalescing', ...one },
    coalescingStore: { way: 'coalescing-store', ...one },
    leases: { way: 'leases', ...one },
    leasesStore: { way: 'leases-store', ...one },
    sluice: { way: 'sluice', ...one },
    luaOwn: { way: 'lua', ...own },
    leasesOwn: { way: 'leases', ...own },
    joined: { way: 'empty-joined', ...one },
    clock: { way: 'clock', ...one },
  })
  const lua = { baseline: 'lua', as: 'speed' } as const
  const at = '64 callers'
  const readings: Reading[] = [
    judge(comparison, { name: `bare, ${at}`, ours: 'bare', ...lua }),
    judge(comparison, { name: `coalescing, ${at}`, ours: 'coalescing', floor: 'joined', goal: { atLeast: 4.5 }, ...lua }),
    judge(comparison, { name: `coalescing, ${at}, its store alone`, ours: 'coalescingStore', ...lua }),
    storeCalls(comparison, { name: `coalescing, ${at}, store calls`, ours: 'coalescing', baseline: 'lua', goal: { atMost: 0.05 } }),
    judge(comparison, { name: `strict leases, ${at}`, ours: 'leases', floor: 'clock', goal: { atLeast: 15 }, ...lua }),
    judge(comparison, { name: `strict leases, ${at}, its store alone`, ours: 'leasesStore', ...lua }),
    storeCalls(comparison, { name: `strict leases, ${at}, store calls`, ours: 'leases', baseline: 'lua', goal: { atMost: 0.02 } }),
    judge(comparison, {
      name: `strict leases, ${at}, a key each`,
      ours: 'leasesOwn',
      baseline: 'luaOwn',
      floor: 'clock',
      as: 'speed',
      goal: { atLeast: 25 },
    }),
    judge(comparison, { name: `Sluice, ${at}`, ours: 'sluice', ...lua }),
  ]
  return { readings, tables: [{ ...comparison.table, name: at.replace(' ', '-'), title: at }] }
}

/** Measures 256 callers, whose batches are larger. The goals are for 64 callers. */
async function crowd(options: RedisOptions): Promise<Required<Pick<PartResult, 'readings' | 'tables'>>> {
  options.say('one key, 256 callers')
  const one = { callers: 256, keys: 'one' } as const
  const comparison = await compare(options, ALLOWED, {
    lua: { way: 'lua', ...one },
    coalescing: { way: 'coalescing', ...one },
    leases: { way: 'leases', ...one },
    joined: { way: 'empty-joined', ...one },
  })
  const lua = { baseline: 'lua', as: 'speed' } as const
  const at = '256 callers'
  const readings: Reading[] = [
    judge(comparison, { name: `coalescing, ${at}`, ours: 'coalescing', floor: 'joined', ...lua }),
    storeCalls(comparison, { name: `coalescing, ${at}, store calls`, ours: 'coalescing', baseline: 'lua' }),
    judge(comparison, { name: `strict leases, ${at}`, ours: 'leases', ...lua }),
    storeCalls(comparison, { name: `strict leases, ${at}, store calls`, ours: 'leases', baseline: 'lua' }),
  ]
  return { readings, tables: [{ ...comparison.table, name: at.replace(' ', '-'), title: at }] }
}
