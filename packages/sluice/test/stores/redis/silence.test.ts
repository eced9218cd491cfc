import { describe, expect, it } from 'vitest'
import type { RedisPort } from '../../../src/stores/redis/clients/redis-port.ts'
import { programRunner } from '../../../src/stores/redis/run-program.ts'
import { NO_WATCH, watchSilence } from '../../../src/stores/redis/silence.ts'
import { type ManualClock, manualClock } from '../../../src/time/manual.ts'

const HEARD_OUT_MS = 50

interface Pending {
  answer(): void
  fail(message: string): void
}

/** Two nodes, chosen by the first letter of a key. A test answers their calls by hand. */
function byHand(random = () => 0): {
  clock: ManualClock
  pending: Pending[]
  replaced: object[]
  check(key?: string): Promise<unknown>
  nodes: object[]
} {
  const clock = manualClock()
  const pending: Pending[] = []
  const replaced: object[] = []
  const nodes = [{ name: 'a' }, { name: 'b' }]
  const send = (): Promise<unknown> =>
    new Promise((resolve, reject) => pending.push({ answer: () => resolve(1), fail: (message) => reject(new Error(message)) }))
  const port: RedisPort = {
    evalsha: send,
    eval: send,
    connections: { of: (key) => nodes.find(({ name }) => key?.startsWith(name)), replace: (node) => void replaced.push(node) },
  }
  const run = programRunner(port, watchSilence(port, clock, random))
  const program = { sha1: 'sha', source: () => 'text' }
  const check = (key?: string): Promise<unknown> => run(program, key === undefined ? [] : [key], [], () => false)().catch(() => {})
  return { clock, pending, replaced, nodes, check }
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

describe('a silent connection', () => {
  it('is replaced by the first call after 300 ms in which no reply came, and then again', () => {
    const { clock, replaced, nodes, check } = byHand()
    void check('a')
    clock.advance(300)
    void check('a')
    expect(replaced).toEqual([])
    clock.advance(1)
    void check('a')
    clock.advance(HEARD_OUT_MS)
    expect(replaced).toEqual([nodes[0]])
    void check('a')
    clock.advance(300)
    void check('a')
    clock.advance(1)
    expect(replaced).toHaveLength(1)
    void check('a')
    clock.advance(HEARD_OUT_MS)
    expect(replaced).toHaveLength(2)
  })

  it('may be slow: any answer is a sign of life, and so is an error reply', async () => {
    const { clock, pending, replaced, check } = byHand()
    for (let round = 0; round < 10; round += 1) {
      void check('a')
      void check('a')
      clock.advance(250)
      if (round % 2 === 0) pending[round * 2]?.answer()
      else pending[round * 2]?.fail('LOADING Redis is loading the dataset in memory')
      await turn()
    }
    expect(replaced).toEqual([])
  })

  it('is not taken for one that answers and is called again before its replies were read: its calls would be sent twice', async () => {
    const { clock, pending, replaced, check } = byHand()
    void check('a')
    clock.advance(301)
    void check('a')
    clock.advance(HEARD_OUT_MS - 1)
    for (const call of pending) call.answer()
    await turn()
    void check('a')
    clock.advance(1)
    expect(replaced).toEqual([])
    // From then on it is judged by what was sent since.
    clock.advance(300)
    void check('a')
    clock.advance(HEARD_OUT_MS)
    expect(replaced).toHaveLength(1)
  })

  it('is not brought to life by what the client itself refuses', async () => {
    const { clock, pending, replaced, check } = byHand()
    for (let round = 0; round < 5; round += 1) {
      void check('a')
      pending.at(-1)?.fail("Stream isn't writeable and enableOfflineQueue options is false")
      clock.advance(100)
      await turn()
    }
    // At 400 ms, and another 300 ms are not over.
    expect(replaced).toHaveLength(1)
  })

  it('idle time is not silence', async () => {
    const { clock, pending, replaced, check } = byHand()
    void check('a')
    pending[0]?.answer()
    await turn()
    clock.advance(60_000)
    void check('a')
    expect(replaced).toEqual([])
  })

  it('waits up to half as long again, by chance: many stores do not act at once', () => {
    const { clock, replaced, check } = byHand(() => 0.999)
    void check('a')
    clock.advance(449)
    void check('a')
    expect(replaced).toEqual([])
    clock.advance(2)
    void check('a')
    clock.advance(HEARD_OUT_MS)
    expect(replaced).toHaveLength(1)
  })

  it('is replaced only after its replies were read: an answer that waited while this process was busy is in time', async () => {
    const { clock, pending, replaced, check } = byHand()
    void check('a')
    clock.advance(5_000)
    void check('a')
    pending[0]?.answer()
    await turn()
    clock.advance(HEARD_OUT_MS)
    expect(replaced).toEqual([])
  })

  it('has its replies read again where this process was too busy, but not for ever', () => {
    const { clock, replaced, check } = byHand()
    void check('a')
    clock.advance(301)
    void check('a')
    for (let round = 0; round < 5; round += 1) {
      // Busy for a second: the timer comes late.
      clock.shift(1_000_000)
      clock.advance(0)
      expect(replaced).toEqual([])
    }
    clock.shift(1_000_000)
    clock.advance(0)
    expect(replaced).toHaveLength(1)
  })

  it('of one node is not that of another, and calls of no known node are left alone', () => {
    const { clock, replaced, nodes, check } = byHand()
    void check('a')
    void check()
    clock.advance(350)
    void check('b')
    void check()
    clock.advance(HEARD_OUT_MS)
    expect(replaced).toEqual([])
    void check('a')
    clock.advance(HEARD_OUT_MS)
    expect(replaced).toEqual([nodes[0]])
  })

  it('a late answer from before does not speak for the new connection', async () => {
    const { clock, pending, replaced, check } = byHand()
    void check('a')
    clock.advance(301)
    void check('a')
    clock.advance(HEARD_OUT_MS)
    void check('a')
    pending[0]?.answer()
    await turn()
    clock.advance(301)
    void check('a')
    clock.advance(HEARD_OUT_MS)
    expect(replaced).toHaveLength(2)
  })

  it('is not watched where the port lets nobody replace its connections', () => {
    const port: RedisPort = { evalsha: async () => 1, eval: async () => 1 }
    expect(watchSilence(port, manualClock(), () => 0)).toBe(NO_WATCH)
  })
})
