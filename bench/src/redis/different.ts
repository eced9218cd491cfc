import { ALLOWED_KEYS } from '../embedded/profiles.ts'
import type { Reading } from '../reading.ts'
import { compare, judge } from './comparison.ts'
import type { RedisPart } from './redis-part.ts'

const GOALS: readonly (readonly [callers: number, atLeast: number])[] = [
  [64, 1.7],
  [256, 2],
]

/** Another key each time: nothing to share but the way to the server. */
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
        plain: { way: 'sluice', ...many },
        coalescing: { way: 'coalescing', ...many },
        resilient: { way: 'resilient', ...many },
        joined: { way: 'empty-joined', ...many },
      })
      const at = `${callers} callers`
      readings.push(
        judge(comparison, { name: `plain, ${at}`, ours: 'plain', baseline: 'lua', as: 'speed' }),
        judge(comparison, {
          name: `coalescing, ${at}`,
          ours: 'coalescing',
          baseline: 'lua',
          floor: 'joined',
          as: 'speed',
          goal: { atLeast },
        }),
        judge(comparison, { name: `resilient, ${at}`, ours: 'resilient', baseline: 'lua', as: 'speed' }),
      )
      notes.push(`${at}, 50,000 keys by turns:`, comparison.table)
    }
    return { readings, notes }
  },
}
