import { describe, expect, it } from 'vitest'
import { concurrency, createLimiter, tokenBucket } from '../../src/index.ts'
import { channel, throttleFunction, throttleIterable, throttleStream } from '../../src/pacing.ts'
import { manualClock } from '../../src/time/manual.ts'
import { settle } from './settle.ts'

const limit = concurrency({ limit: 2, holdMs: 3_600_000 })

/** A limiter of two slots, and how many are free. */
function slots() {
  const clock = manualClock()
  const limiter = createLimiter({ limit, clock })
  const free = async (): Promise<number | undefined> => (await limiter.peek('pacing')).limits[0]?.remaining
  return { clock, limiter, free }
}

describe('pacing by the slots of a concurrency limit', () => {
  it('runs so many calls at once, and the next one when one settles, in order', async () => {
    const { clock, limiter, free } = slots()
    const running: string[] = []
    const ends = new Map<string, (error?: Error) => void>()
    const work = throttleFunction(
      (name: string) =>
        new Promise<string>((resolve, reject) => {
          running.push(name)
          ends.set(name, (error) => (error === undefined ? resolve(name) : reject(error)))
        }),
      limiter,
      { clock },
    )
    const all = ['a', 'b', 'c', 'd'].map((name) => work(name))
    await settle()
    expect([running, await free()]).toEqual([['a', 'b'], 0])
    ends.get('b')?.(new Error('broken'))
    await expect(all[1]).rejects.toThrow('broken')
    await settle()
    expect(running).toEqual(['a', 'b', 'c'])
    ends.get('a')?.()
    await settle()
    expect(running).toEqual(['a', 'b', 'c', 'd'])
    for (const name of ['c', 'd']) ends.get(name)?.()
    expect(await Promise.all([all[0], all[2], all[3]])).toEqual(['a', 'c', 'd'])
    await settle()
    expect(await free()).toBe(2)
  })

  it('a function that throws gives its slot back, and so does a call that is aborted', async () => {
    const { clock, limiter, free } = slots()
    const fails = throttleFunction(
      () => {
        throw new Error('at once')
      },
      limiter,
      { clock },
    )
    await expect(fails()).rejects.toThrow('at once')
    const controller = new AbortController()
    const hold = throttleFunction(() => new Promise<void>(() => {}), limiter, { clock, signal: controller.signal })
    const waiting = [hold(), hold(), hold()]
    for (const one of waiting) one.catch(() => {})
    await settle()
    expect(await free()).toBe(0)
    controller.abort(new Error('enough'))
    await expect(waiting[2]).rejects.toThrow('enough')
    // The first two are at work, and hold their slots.
    await settle()
    expect(await free()).toBe(0)
  })

  it('an iterable holds a slot while its consumer is at work on an item', async () => {
    const { clock, limiter, free } = slots()
    const seen: (number | undefined)[] = []
    for await (const item of throttleIterable([1, 2, 3], limiter, { clock })) {
      seen.push(await free())
      if (item === 2) break
    }
    await settle()
    expect([seen, await free()]).toEqual([[1, 1], 2])
  })

  it('streams and channels refuse such a limit', () => {
    const limits = { rate: tokenBucket({ rate: '1/s', burst: 1 }), slots: limit }
    expect(() => throttleStream(limit)).toThrow('throttleStream: default is a concurrency limit')
    expect(() => channel(createLimiter({ limits }), { capacity: 1 })).toThrow('channel: slots is a concurrency limit')
  })
})
