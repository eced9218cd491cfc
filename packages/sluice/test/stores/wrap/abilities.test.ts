import { describe, expect, it } from 'vitest'
import { createLimiter, tokenBucket } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import type { Store } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { wrappers } from '../../conformance/wrappers.ts'

const limit = tokenBucket({ rate: '1/h', burst: 3 })
/** Those that need to hear the answer before they say it, or that take several calls together, answer later. */
const LATER = ['withBreaker', 'withCoalescing', 'withDeniedCache', 'withLeases', 'withShare', 'resilient']

/** As a class has them: methods that need their `this`. */
class Own implements Store {
  readonly #inner = memoryStore({ clock: manualClock() })
  readonly name = 'own'
  readonly capabilities = this.#inner.capabilities
  consume: Store['consume'] = (...given) => this.#inner.consume(...given)
  consumeSync(...given: Parameters<NonNullable<Store['consumeSync']>>) {
    return this.#inner.consumeSync(...given)
  }
  peek: Store['peek'] = (...given) => this.#inner.peek(...given)
  reset: Store['reset'] = (...given) => this.#inner.reset(...given)
  ready: Store['ready'] = () => this.#inner.ready()
  close: Store['close'] = () => this.#inner.close()
}

describe('X7: what a store can do, a wrapper around it can', () => {
  it.each(wrappers.filter(([name]) => !LATER.includes(name)))('%s: answer at once', (_, wrap) => {
    const limiter = createLimiter({ limit, store: wrap(new Own()), clock: manualClock() })
    const outcomes = Array.from({ length: 4 }, () => limiter.checkSync('k').outcome)
    expect(outcomes).toEqual(['allowed', 'allowed', 'allowed', 'denied'])
  })

  it.each(wrappers)('%s: give back, take and block, or not', async (_, wrap) => {
    const able = createLimiter({ limit, store: wrap(memoryStore({ clock: manualClock() })), clock: manualClock() })
    await able.penalize('k', { cost: 3 })
    expect((await able.check('k')).outcome).toBe('denied')
    await able.refund('k', { cost: 2 })
    expect((await able.peek('k')).limits[0]?.remaining).toBe(2)
    await able.block('k', '1h')
    expect(await able.check('k')).toMatchObject({ outcome: 'denied', reason: 'blocked' })
    const unable = createLimiter({ limit, store: wrap(new Own()), clock: manualClock() })
    await expect(unable.refund('k')).rejects.toMatchObject({ code: 'NOT_SUPPORTED' })
    await expect(unable.block('k', '1h')).rejects.toMatchObject({ code: 'NOT_SUPPORTED' })
  })
})
