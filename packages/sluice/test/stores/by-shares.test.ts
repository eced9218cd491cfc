import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { memoryStore, tokenBucket } from '../../src/index.ts'
import { decideByShares } from '../../src/stores/by-shares.ts'
import { withShares } from '../../src/stores/region-port.ts'
import { type CallGroup, type GroupVerdict, StoreFailure } from '../../src/stores/store.ts'

const SCOPE = { text: 'api:default:tb:' }
const NOW = 1_000_000
const BURST = 10

/** A limit of which this region holds all. */
function wholeShare(rate: string): AnyLimit {
  const limit = tokenBucket({ rate, burst: BURST })
  return withShares(limit, {
    view: { run: 'run', begins: '', shiftedAt: 0 },
    shareOf: () => ({ limit, holds: true, change: 0, settled: 0 }),
    refresh: async () => {},
    settle: async () => {},
  })
}

const [slow, fast] = [wholeShare('10/s'), wholeShare('20/s')]
const groupOf = (key: string, limit = slow): CallGroup => ({ calls: [{ id: { scope: SCOPE, key }, limit, cost: MICRO, phase: 0 }] })
const others = (count: number): CallGroup[] => Array.from({ length: count }, (_, index) => groupOf(`other-${index}`))

/** A server that decides by a region's shares. The round trips with these numbers fail. */
function server(failures: ReadonlyMap<number, StoreFailure> = new Map()) {
  const store = memoryStore()
  const trips: string[][] = []
  const decide = decideByShares('test', async (groups) => {
    trips.push(groups.flatMap(({ calls }) => calls.map(({ id }) => id.key)))
    const failure = failures.get(trips.length)
    if (failure !== undefined) throw failure
    return store.decide(groups, { now: NOW })
  })
  return { trips, decide: (groups: readonly CallGroup[]) => decide(groups, {}) }
}

const left = ({ calls }: GroupVerdict): number | undefined => calls?.[0]?.remaining
const ONE_LESS = BURST - 1
const TWO_LESS = BURST - 2

describe('decideByShares: a key under two limits in one list', () => {
  it('splits the list only there, in order', async () => {
    const { trips, decide } = server()
    const verdicts = await decide([groupOf('key'), groupOf('key', fast), ...others(98)])
    expect(trips.map((keys) => keys.length)).toEqual([1, 99])
    expect(verdicts.map(left)).toEqual([ONE_LESS, TWO_LESS, ...others(98).map(() => ONE_LESS)])
  })

  it('splits before each group that conflicts with its run, and not where a limit returns', async () => {
    const { trips, decide } = server()
    await decide([groupOf('a'), groupOf('b', fast), groupOf('a'), groupOf('a', fast), groupOf('b', fast), groupOf('b'), groupOf('a', fast)])
    expect(trips).toEqual([
      ['a', 'b', 'a'],
      ['a', 'b'],
      ['b', 'a'],
    ])
  })

  it('splits the list where a key is under a limit without shares, too', async () => {
    const { trips, decide } = server()
    const whole = tokenBucket({ rate: '10/s', burst: BURST })
    await decide([groupOf('a', whole), groupOf('b'), groupOf('a'), groupOf('b', whole), groupOf('c', whole), groupOf('c', whole)])
    expect(trips).toEqual([
      ['a', 'b'],
      ['a', 'b', 'c', 'c'],
    ])
  })

  it('sends a list without conflict once', async () => {
    const { trips, decide } = server()
    await decide([groupOf('a'), groupOf('b', fast), groupOf('a'), groupOf('b', fast)])
    expect(trips).toEqual([['a', 'b', 'a', 'b']])
  })

  it('fails only the groups of a later run that fails, and of those after it, which are not sent', async () => {
    const failure = new StoreFailure('connection', 'unknown', 'reset')
    const { trips, decide } = server(new Map([[2, failure]]))
    const list = [groupOf('first'), groupOf('key'), groupOf('key', fast), groupOf('second'), groupOf('key'), groupOf('third')]
    const verdicts = await decide(list)
    expect(trips).toEqual([
      ['first', 'key'],
      ['key', 'second'],
    ])
    expect(verdicts.map(left)).toEqual([ONE_LESS, ONE_LESS, undefined, undefined, undefined, undefined])
    expect(verdicts.slice(2, 4).map((verdict) => verdict.failure)).toEqual([failure, failure])
    for (const verdict of verdicts.slice(4)) expect(verdict.failure).toMatchObject({ kind: 'connection', executed: 'no', message: 'reset' })
  })

  it('rejects if the first run fails: nothing else was sent', async () => {
    const failure = new StoreFailure('connection', 'no', 'refused')
    const { trips, decide } = server(new Map([[1, failure]]))
    await expect(decide([groupOf('key'), groupOf('key', fast)])).rejects.toBe(failure)
    expect(trips).toEqual([['key']])
  })
})
