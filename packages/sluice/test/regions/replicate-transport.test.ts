import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/index.ts'
import { regionalStore, replicate, type ReplicateOptions } from '../../src/regions.ts'
import { manualClock } from '../../src/time/manual.ts'

const unhandled: unknown[] = []
const note = (reason: unknown): void => void unhandled.push(reason)
beforeEach(() => process.on('unhandledRejection', note))
afterEach(() => {
  process.off('unhandledRejection', note)
  unhandled.length = 0
})

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

class Wordless extends Error {
  override get message(): string {
    throw new TypeError('no message')
  }
  override set message(_: string) {}
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

/** What the status says after two pulls, and what `onError` saw. */
async function pulled(mode: 'escrow' | 'counters', transport: ReplicateOptions['transport'] & {}, observe?: () => unknown) {
  const clock = manualClock()
  const store = regionalStore({ store: memoryStore({ clock }), self: 'eu', peers: ['us'], mode })
  const errors: unknown[] = []
  const onError = (_: string, error: unknown): unknown => {
    errors.push(error)
    return observe?.()
  }
  const replicator = replicate({ store, transport, clock, random: () => 0.5, onError })
  await turn()
  clock.advance(1_000)
  await turn()
  const { failures, error } = replicator.status().peers['us'] as { failures: number; error: string | undefined }
  await replicator.close()
  await turn()
  return { failures, error, errors }
}

describe.each(['escrow', 'counters'] as const)('a transport of mode %s', (mode) => {
  it('may throw at once: that is a failed pull, and the end of the replicator rejects nothing', async () => {
    const thrown = new TypeError('the address of us is missing')
    const found = await pulled(mode, () => {
      throw thrown
    })
    expect(found).toEqual({ failures: 2, error: thrown.message, errors: [thrown, thrown] })
    expect(unhandled).toEqual([])
  })

  it.each([
    ['a text', 'gone', 'gone'],
    ['nothing', undefined, 'undefined'],
    ['an object without a prototype', Object.create(null), '{}'],
    ['an object that cannot be a text', { toString: 5, valueOf: 5 }, '{"toString":5,"valueOf":5}'],
  ])('may reject with %s', async (_what, reason: unknown, error) => {
    expect(await pulled(mode, () => Promise.reject(reason))).toEqual({ failures: 2, error, errors: [reason, reason] })
    expect(unhandled).toEqual([])
  })

  it.each([
    ['an error whose message cannot be read', new Wordless()],
    ['an object that cannot be read', revokedProxy()],
  ])('may reject with %s: the pull fails, and later ones follow', async (_what, reason: unknown) => {
    const { failures, error, errors } = await pulled(mode, () => Promise.reject(reason))
    expect({ failures, error }).toEqual({ failures: 2, error: 'an error without a message' })
    expect(errors.map((one) => one === reason)).toEqual([true, true])
    expect(unhandled).toEqual([])
  })
})

describe.each(['escrow', 'counters'] as const)('onError of mode %s', (mode) => {
  it('may throw or reject: the error is dropped, and later pulls follow', async () => {
    const lost = (): Promise<unknown> => Promise.reject(new Error('lost'))
    const thrown = await pulled(mode, lost, () => {
      throw new Error('onError failed')
    })
    const rejected = await pulled(mode, lost, () => Promise.reject(new Error('onError failed')))
    for (const { failures } of [thrown, rejected]) expect(failures).toBe(2)
    expect(unhandled).toEqual([])
  })
})
