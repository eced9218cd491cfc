import { ALLOWED_KEYS } from '../embedded/profiles.ts'
import type { Reading } from '../reading.ts'
import { compare, judge } from './comparison.ts'
import type { RedisPart } from './redis-part.ts'

const GOALS: readonly (readonly [callers: number, atLeast: number])[] = [
  [64, 1.7],
  [256, 2],
]

/** Another key each time: only the round trip can be shared. */
export const different: RedisPart = {
  name: 'different',
  title: 'a different key each time, against one EVALSHA per decision',
  async run(options) {
    const readings: Reading[] = []
    const notes: string[] = []
    for (const [callers, atLeast] of GOALS) {
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
      notes.push(`${at}, 50,000 keys by turns:`, comparison.table)
    }
    return { readings, notes }
  },
}
