import type { Profile } from '../embedded/profiles.ts'
import { inChild } from '../in-child.ts'
import type { Part, PartOptions } from '../part.ts'
import type { Goal, Reading } from '../reading.ts'
import { comparisonOf, judge } from '../redis/comparison.ts'
import type { CallersTimed } from '../redis/rounds.ts'
import type { LanesInput, WayName } from './lanes.ts'

export interface PostgresOptions extends PartOptions {
  readonly url: string
}

/** Nobody is refused, and the article's function can carry it in its own type. */
const ALLOWED: Profile = { name: 'all allowed, burst 10^7', burst: 10_000_000, tokens: 1_000_000, per: '1s', answer: 'allowed' }
const BATCH_MS = 60
/** How long each lane runs before, in milliseconds of processor time for each second of the comparison: states are there then, and code is compiled. */
const WARM_UP_MS = 1_000
const WAYS: readonly WayName[] = ['article', 'update', 'bare', 'coalescing', 'sluice', 'flexible']

const OURS = [
  ['bare', 'bare'],
  ['Sluice', 'sluice'],
] as const

interface Row {
  readonly callers: number
  readonly keys: 'one' | 'many'
  readonly goal: Goal
}

export const hot: Part<PostgresOptions> = speedPart('hot', 'one hot key, against the article’s function under READ COMMITTED', [
  { callers: 32, keys: 'one', goal: { atLeast: 20 } },
  { callers: 8, keys: 'one', goal: { atLeast: 5 } },
])

export const different: Part<PostgresOptions> = speedPart('different', 'a different key each time, 50,000 in turn', [
  { callers: 32, keys: 'many', goal: { atLeast: 3 } },
])

function speedPart(name: string, title: string, rows: readonly Row[]): Part<PostgresOptions> {
  return {
    name,
    title,
    async run(options) {
      const readings: Reading[] = []
      const notes: string[] = []
      for (const { callers, keys, goal } of rows) {
        options.say(`${callers} connections`)
        const comparison = await compared(options, callers, keys)
        const at = `${callers} connections`
        readings.push(
          judge(comparison, { name: `bare, ${at}`, ours: 'bare', baseline: 'article', as: 'speed' }),
          judge(comparison, { name: `coalescing, ${at}`, ours: 'coalescing', baseline: 'article', as: 'speed', goal }),
          judge(comparison, { name: `Sluice, ${at}`, ours: 'sluice', baseline: 'article', as: 'speed', goal }),
          judge(comparison, {
            name: `Sluice, ${at}, against rate-limiter-flexible`,
            ours: 'sluice',
            baseline: 'flexible',
            as: 'speed',
            goal: { atLeast: 1 },
          }),
          ...OURS.map(([whose, ours]) =>
            judge(comparison, { name: `${whose}, ${at}, against one prepared UPDATE`, ours, baseline: 'update', as: 'speed' }),
          ),
        )
        notes.push(`${at}:`, comparison.table)
      }
      return { readings, notes }
    },
  }
}

export const single: Part<PostgresOptions> = {
  name: 'single',
  title: 'one caller, one request after the other',
  async run(options) {
    options.say('one connection')
    const comparison = await compared(options, 1, 'one')
    const goal = { atMost: 1.25 }
    return {
      readings: [
        judge(comparison, { name: 'bare', ours: 'bare', baseline: 'article', as: 'time', goal }),
        judge(comparison, { name: 'coalescing', ours: 'coalescing', baseline: 'article', as: 'time', goal }),
        judge(comparison, { name: 'Sluice', ours: 'sluice', baseline: 'article', as: 'time', goal }),
        judge(comparison, {
          name: 'Sluice, against rate-limiter-flexible',
          ours: 'sluice',
          baseline: 'flexible',
          as: 'speed',
          goal: { atLeast: 1 },
        }),
        ...OURS.map(([whose, ours]) =>
          judge(comparison, { name: `${whose}, against one prepared UPDATE`, ours, baseline: 'update', as: 'time' }),
        ),
      ],
      notes: [comparison.table],
    }
  },
}

async function compared(options: PostgresOptions, callers: number, keys: 'one' | 'many') {
  const { url, seconds } = options
  const { tokens, per, burst } = ALLOWED
  const input: LanesInput = {
    url,
    seconds: seconds * 2,
    batchMs: Math.min(BATCH_MS, seconds * 20),
    warmUpMs: seconds * WARM_UP_MS,
    quota: { tokens, per, burst },
    callers,
    keys,
    ways: WAYS,
  }
  const timed = await inChild<CallersTimed[]>('ways', input, { ...options, family: 'postgres' })
  return comparisonOf(ALLOWED, WAYS, timed)
}
