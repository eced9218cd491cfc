import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../../src/index.ts'
import { bareRedisStore } from '../../../src/stores/redis/index.ts'
import { adjustProgram, blockProgram } from '../../../src/stores/redis/programs.gen.ts'
import type { Change, StateId, Store } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/time/manual.ts'

const NAMES = new Map([
  [adjustProgram.sha1, 'adjust'],
  [blockProgram.sha1, 'block'],
])

const id = (key: string): StateId => ({ scope: { text: '' }, key })
const adjust = (key: string, amount = 1, receipt?: number): Change => {
  const call = { id: id(key), limit: tokenBucket({ rate: '1/s', burst: 5 }), cost: 1, phase: 0 }
  return { kind: 'adjust', call, amount, ...(receipt === undefined ? {} : { receipt }) }
}
const block = (key: string, micros: number): Change => ({ kind: 'block', id: id(key), micros })
const unblock = (key: string): Change => ({ kind: 'unblock', id: id(key) })
const reset = (key: string): Change => ({ kind: 'reset', id: id(key) })

/** A store whose server takes time for each call, and refuses calls of the keys in `refused`. */
function open(refused: readonly string[] = []): { store: Store; sent: string[]; clock: ReturnType<typeof manualClock> } {
  const clock = manualClock()
  const sent: string[] = []
  const evalsha = async (sha1: string, keys: readonly string[], [argument]: readonly (string | number)[]): Promise<unknown> => {
    const numbers = JSON.parse(String(argument)) as number[]
    // A length, or a receipt.
    sent.push(`${NAMES.get(sha1)} ${keys.join()} ${numbers[1]}`)
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(10)
    if (keys.some((key) => refused.includes(key))) throw new Error('LOADING Redis is loading')
    return 1
  }
  const store = bareRedisStore({ client: { evalsha, eval: async () => null }, prefix: '', clock })
  return { store, sent, clock }
}

describe('changes of a Redis store', () => {
  it('are one program call for neighbours of one kind, and of one length or receipt, in order', async () => {
    const { store, sent } = open()
    const changes = [
      adjust('a'),
      adjust('b', -2),
      adjust('c', 1, 7),
      block('a', 500),
      block('b', 500),
      block('c', 900),
      unblock('a'),
      unblock('b'),
      reset('a'),
      reset('b'),
      block('a', 500),
    ]
    expect(await store.change(changes)).toEqual(changes.map(() => ({})))
    expect(sent).toEqual(['adjust a,b -1', 'adjust c 7', 'block a,b 500', 'block c 900', 'block a,b 0', 'block a,b -1', 'block a 500'])
  })

  it('that fail say so each, and the others are made', async () => {
    const { store, sent } = open(['b'])
    const results = await store.change([reset('a'), block('a', 5), block('b', 5), unblock('c')])
    expect(results).toMatchObject([{}, { failure: { kind: 'unavailable', executed: 'no' } }, { failure: { kind: 'unavailable' } }, {}])
    expect(sent).toHaveLength(3)
  })

  it('are not sent once the deadline has passed', async () => {
    const { store, sent, clock } = open()
    const results = await store.change([reset('a'), unblock('b'), block('c', 5)], { deadline: clock.monotonic() + 10 })
    expect(results).toMatchObject([
      { failure: { kind: 'timeout', executed: 'unknown' } },
      { failure: { kind: 'timeout', executed: 'no' } },
      { failure: { kind: 'timeout', executed: 'no' } },
    ])
    expect(sent).toEqual(['block a -1'])
  })

  it('an empty list sends nothing', async () => {
    const { store, sent } = open()
    expect(await store.change([])).toEqual([])
    expect(sent).toEqual([])
  })
})
