import type { Table } from '../result/table.ts'
import { ALLOWED_KEYS } from '../profiles.ts'
import type { Reading } from '../result/reading.ts'
import { compare, judge } from './comparison.ts'
import type { RedisPart } from './redis-part.ts'

/** The callers of a quick run. */
const QUICK = 64

const GOALS: readonly (readonly [callers: number, atLeast: number])[] = [
  [64, 1.7],
  [256, 2],
]

/** Measures requests with a different key each time, so that they can share only the round trip. */
export const different: RedisPart = {
  name: 'different',
  title: 'a different key each time, against one EVALSHA per decision',
  async run(options) {
    const readings: Reading[] = []
    const tables: Table[] = []
    for (const [callers, atLeast] of GOALS) {
      if (options.depth === 'quick' && callers !== QUICK) continue
      options.say(`a different key each time, ${callers} callers`)
      const many = { callers, keys: 'many' } as const
      const comparison = await compare(options, ALLOWED_KEYS, {
        lua: { way: 'lua', ...many },
        bare: { way: 'bare', ...many },
        coalescing: { way: 'coalescing', ...many },
        sluice: { way: 'sluice', ...many },
        joined: { way: 'empty-joined', ...many },
      })
      const at = `${callers} callers`
      readings.push(
        judge(comparison, { name: `bare, ${at}`, ours: 'bare', baseline: 'lua', as: 'speed' }),
        judge(comparison, {
          name: `coalescing, ${at}`,
          ours: 'coalescing',
          baseline: 'lua',
          floor: 'joined',
          as: 'speed',
          goal: { atLeast },
        }),
        judge(comparison, { name: `Sluice, ${at}`, ours: 'sluice', baseline: 'lua', as: 'speed' }),
      )
      tables.push({ ...comparison.table, name: `lanes-${callers}`, title: `${at}, 50,000 keys by turns` })
    }
    return { readings, tables }
  },
}
