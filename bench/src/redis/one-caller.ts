import { ALLOWED } from '../profiles.ts'
import { compare, judge } from './comparison.ts'
import type { RedisPart } from './redis-part.ts'

/** Measures one caller with one request after the other. Nothing can be batched, and the attempt to batch must cost nothing. */
export const oneCaller: RedisPart = {
  name: 'one-caller',
  title: 'one caller, against one EVALSHA per decision',
  async run(options) {
    options.say('one caller, one key')
    const alone = { callers: 1, keys: 'one' } as const
    const comparison = await compare(options, ALLOWED, {
      lua: { way: 'lua', ...alone },
      bare: { way: 'bare', ...alone },
      coalescing: { way: 'coalescing', ...alone },
      sluice: { way: 'sluice', ...alone },
      empty: { way: 'empty-joined', ...alone },
    })
    const goal = { atMost: 1.1 }
    return {
      readings: [
        judge(comparison, { name: 'bare', ours: 'bare', baseline: 'lua', floor: 'empty', as: 'time', goal }),
        judge(comparison, { name: 'coalescing', ours: 'coalescing', baseline: 'lua', floor: 'empty', as: 'time', goal }),
        judge(comparison, { name: 'Sluice', ours: 'sluice', baseline: 'lua', floor: 'empty', as: 'time', goal }),
      ],
      tables: [comparison.table],
    }
  },
}
