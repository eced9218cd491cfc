import { describe, expect, it } from 'vitest'
import { createLimiter, tokenBucket } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import type { Store } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { wrappers } from '../../conformance/wrappers.ts'

const limit = tokenBucket({ rate: '1/h', burst: 3 })
/** As a class has them: methods that need their `this`. */
class Own implements Store {
  readonly #inner = memoryStore({ clock: manualClock() })
  readonly name = 'own'
  readonly capabilities = this.#inner.capabilities
  consume(...given: Parameters<Store['consume']>) {
    return this.#inner.consume(...given)
  }
  consumeSync(...given: Parameters<NonNullable<Store['consumeSync']>>) {
    return this.#inner.consumeSync(...given)
  }
  peek(...given: Parameters<Store['peek']>) {
    return this.#inner.peek(...given)
  }
  reset(...given: Parameters<Store['reset']>) {
    return this.#inner.reset(...given)
  }
  ready() {
    return this.#inner.ready()
  }
  close() {
    return this.#inner.close()
  }
}

describe('X7: what a store can do, a wrapper around it can', () => {
  it.each(wrappers)('%s: answer at once', async (_, wrap) => {
    const limiter = createLimiter({ limit, store: wrap(new Own()), clock: manualClock() })
    const outcomes = Array.from({ length: 4 }, () => limiter.checkSync('k').outcome)
    expect(outcomes).toEqual(['allowed', 'allowed', 'allowed', 'denied'])
    expect((await limiter.peek('k')).outcome).toBe('denied')
    await limiter.reset('k')
    expect((await limiter.check('k')).outcome).toBe('allowed')
    await limiter.ready()
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
