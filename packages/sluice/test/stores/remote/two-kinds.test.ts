import { describe, expect, it } from 'vitest'
import { settle } from './held-store.ts'
import { call, keys, ringBench } from './ring-bench.ts'

describe('batches of two kinds', () => {
  it('are not split, and none follows at sixteen calls, while the server has a batch of the other kind', async () => {
    const { ring, ask, sent, calls, pass } = ringBench()
    const settlement = (key: string) =>
      void ring.change([{ kind: 'settle', id: { scope: { text: 'test:h:ho:' }, key }, calls: [call(key)], holder: 'h' }])
    settlement('s')
    await settle()
    for (const name of keys('a', 40)) ask(name)
    await settle()
    for (const name of keys('b', 16)) ask(name)
    for (const name of keys('t', 16)) settlement(name)
    await settle()
    expect(sent()).toEqual([['s'], keys('a', 40)])
    await calls[1]?.answer()
    expect(sent()).toEqual([['s'], keys('a', 40), keys('b', 16)])
    await pass(3)
    expect(sent().slice(3)).toEqual([keys('t', 16)])
  })
})
