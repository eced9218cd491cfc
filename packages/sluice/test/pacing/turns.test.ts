import { describe, expect, it, vi } from 'vitest'
import { createLimiter, memoryStore, tokenBucket } from '../../src/index.ts'
import { createChannel } from '../../src/pacing/channel.ts'
import { createTurns, type Turns } from '../../src/pacing/turns.ts'
import { manualClock } from '../../src/time/manual.ts'
import { failingStore, switchable } from '../remote-memory.ts'
import { settle } from './settle.ts'

const limit = tokenBucket({ rate: '1/s', burst: 9 })

describe('turns', () => {
  it('a turn that aborts behind others ends at once, and those after it keep their order', async () => {
    const clock = manualClock()
    const wire = switchable()
    const limiter = createLimiter({ limit, store: wire.store, clock })
    const wait = vi.spyOn(limiter, 'wait')
    const turns = createTurns('test', limiter, clock, { maxWaiting: 4 })
    const seen: string[] = []
    const next = (name: string, signal?: AbortSignal): void =>
      void turns.next(1, signal).then(
        () => seen.push(name),
        (error: Error) => seen.push(`${name} ${error.message}`),
      )
    const controllers = [new AbortController(), new AbortController()]
    next('a')
    next('b', controllers[0]?.signal)
    next('c', controllers[1]?.signal)
    next('d')
    await settle()
    for (const controller of controllers.toReversed()) controller.abort(new Error('left'))
    await settle()
    expect(seen).toEqual(['c left', 'b left'])
    next('e')
    next('f')
    next('g')
    await settle()
    expect(seen.slice(2)).toEqual(['g test: 4 turns are waiting already (maxWaiting)'])
    wait.mockClear()
    clock.advance(100)
    await settle()
    // Only the first turn tries again, though the turn next to it has left.
    expect(wait).toHaveBeenCalledTimes(1)
    wire.fail = false
    clock.advance(200)
    await settle()
    expect(seen.slice(3)).toEqual(['a', 'd', 'e', 'f'])
  })

  it('a turn waits for all before it, though one between was refused', async () => {
    const clock = manualClock()
    const wire = switchable()
    const turns = createTurns('test', createLimiter({ limit, store: wire.store, clock }), clock, {})
    const seen: string[] = []
    const first = turns.next().then(() => seen.push('first'))
    await settle()
    wire.fail = false
    const refused = turns.next(10).catch(() => seen.push('refused'))
    const last = turns.next().then(() => seen.push('last'))
    await settle()
    clock.advance(100)
    await Promise.all([first, refused, last])
    expect(seen).toEqual(['refused', 'first', 'last'])
  })

  it('leaves no listener on a signal when it has ended', async () => {
    const clock = manualClock()
    const wire = switchable()
    const turns = createTurns('test', createLimiter({ limit, store: wire.store, clock }), clock, {})
    const { signal } = new AbortController()
    const [added, removed] = (['addEventListener', 'removeEventListener'] as const).map((name) => vi.spyOn(signal, name))
    const all = Array.from({ length: 9 }, () => turns.next(1, signal))
    await settle()
    expect(added).toHaveBeenCalledTimes(1)
    wire.fail = false
    clock.advance(100)
    await Promise.all(all)
    expect(removed?.mock.calls.length).toBe(added?.mock.calls.length)
  })

  it('of a channel: takes that leave while the store fails keep none', async () => {
    const clock = manualClock()
    const { next } = createTurns('channel', createLimiter({ limit, store: failingStore(), clock }), clock, { maxWaiting: Infinity })
    let pending = 0
    const turns: Turns = {
      next: (...args) => {
        pending += 1
        return next(...args).finally(() => (pending -= 1))
      },
    }
    const items = createChannel<number>({ turns, capacity: 10, maxWaiting: 3, cost: undefined, signal: undefined })
    for (let item = 0; item < 10; item += 1) await items.put(item)
    void items.take()
    for (let nth = 0; nth < 50; nth += 1) {
      const controller = new AbortController()
      const taken = items.take({ signal: controller.signal })
      await settle()
      controller.abort(new Error('left'))
      await expect(taken).rejects.toThrow('left')
    }
    await settle()
    expect(pending).toBe(1)
  })

  it.each([86_400_000.3, 49_876_536.8, 56_049_372.3])('a turn may wait a day on a clock that shows %d ms', async (ms) => {
    const clock = manualClock()
    clock.advance(ms)
    const turns = createTurns('test', createLimiter({ limit, store: memoryStore({ clock }), clock }), clock, {})
    expect(await turns.next()).toBeUndefined()
  })
})
