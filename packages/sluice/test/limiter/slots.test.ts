import { describe, expect, it, vi } from 'vitest'
import { concurrency, createLimiter, type LimiterOptions, memoryStore, type Store, StoreFailure, tokenBucket } from '../../src/index.ts'
import { headersOf, problemOf, type Refusal } from '../../src/http.ts'
import { remoteStore } from '../../src/remote.ts'
import { seeded } from '../../src/testing/random.ts'
import { manualClock } from '../../src/time/manual.ts'
import { draws } from '../draws.ts'
import { remoteMemory } from '../remote-memory.ts'

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
}

function slots(options: Partial<LimiterOptions> = {}, limit = 2) {
  const clock = manualClock()
  const of = options.limits === undefined ? { limit: concurrency({ limit, holdMs: 10_000 }) } : {}
  const limiter = createLimiter({ name: 'jobs', clock, ...of, ...options })
  const advance = async (ms: number): Promise<void> => {
    await settle()
    clock.advance(ms)
    await settle()
  }
  return { clock, limiter, advance }
}

describe('check on a concurrency limit', () => {
  it('takes a slot under an id of its own, which release gives back', async () => {
    const { clock, limiter } = slots()
    const first = await limiter.check('k')
    expect(first).toMatchObject({
      outcome: 'allowed',
      limits: [{ limit: 2, remaining: 1, windowMs: 10_000, unit: 'concurrent-requests' }],
      hold: { id: expect.stringMatching(/^[\da-f]{32}$/), expiresAt: clock.now() / 1_000 + 10_000, fence: first.atMicros },
    })
    const second = limiter.checkSync('k')
    expect(second.hold?.id).not.toBe(first.hold?.id)
    expect((await limiter.check('k')).outcome).toBe('denied')
    await limiter.release('k', first.hold?.id ?? '')
    await limiter.release('k', first.hold?.id ?? '')
    expect((await limiter.check('k')).outcome).toBe('allowed')
    expect((await limiter.check('k')).outcome).toBe('denied')
  })

  it('is denied because of concurrency, and nobody knows until when', async () => {
    const { limiter } = slots()
    await limiter.checkMany([{ key: 'k' }, { key: 'k' }])
    for (const denied of [await limiter.check('k'), await limiter.peek('k')]) {
      expect(denied).toMatchObject({ outcome: 'denied', reason: 'concurrency', limitName: 'default' })
      expect('retryAfterMs' in denied).toBe(false)
      expect('hold' in denied).toBe(false)
    }
  })

  it('sends no time in headers: neither Retry-After nor t nor w', async () => {
    const { limiter } = slots({}, 1)
    expect(headersOf(await limiter.check('k'), 'i', { legacy: 'delta' })).toEqual([
      ['RateLimit-Policy', '"default";q=1;qu="concurrent-requests"'],
      ['RateLimit', '"default";r=0'],
      ['RateLimit-Limit', '1'],
      ['RateLimit-Remaining', '0'],
      ['X-RateLimit-Limit', '1'],
      ['X-RateLimit-Remaining', '0'],
    ])
    const denied = await limiter.check('k')
    expect(headersOf(denied, 'i', { dialect: 'draft-7' })).toEqual([
      ['RateLimit-Policy', '1;qu="concurrent-requests"'],
      ['RateLimit', 'limit=1, remaining=0'],
      ['X-RateLimit-Limit', '1'],
      ['X-RateLimit-Remaining', '0'],
      ['Cache-Control', 'no-store'],
    ])
    expect(problemOf(denied as Refusal)).toMatchObject({
      status: 429,
      reason: 'concurrency',
      detail: 'All slots of the limit default are in use; try again when another request has ended.',
    })
  })

  it('with other limits: the reason and the wait are those of the limit with the longest wait', async () => {
    const limits = { atOnce: concurrency({ limit: 1, holdMs: 10_000 }), rate: tokenBucket({ rate: '1/min', burst: 2 }) }
    const { limiter } = slots({ limits })
    const { hold } = await limiter.check('k')
    expect(await limiter.check('k')).toMatchObject({
      reason: 'concurrency',
      limitName: 'atOnce',
      limits: [{ remaining: 0 }, { remaining: 1 }],
    })
    await limiter.release('k', hold?.id ?? '')
    await limiter.check('k')
    expect(await limiter.check('k')).toMatchObject({ reason: 'quota', limitName: 'rate', retryAfterMs: 60_000 })
  })

  it('a peek takes no slot, a reset keeps those who hold one, and a block denies', async () => {
    const { limiter } = slots({}, 1)
    await limiter.peek('k')
    const { hold } = await limiter.check('k')
    await limiter.reset('k')
    expect((await limiter.check('k')).outcome).toBe('denied')
    await limiter.refund('k')
    await limiter.penalize('k')
    expect((await limiter.check('k')).outcome).toBe('denied')
    await limiter.release('k', hold?.id ?? '')
    await limiter.block('k', '5s')
    expect(await limiter.check('k')).toMatchObject({ reason: 'blocked', retryAfterMs: 5_000 })
  })

  it('another limit of the same limiter counts the same holders', async () => {
    const { limiter } = slots()
    const wide = limiter.withLimit(concurrency({ limit: 3, holdMs: 10_000 }))
    await limiter.check('k')
    await limiter.check('k')
    const { hold } = await wide.check('k')
    expect((await wide.check('k')).outcome).toBe('denied')
    await limiter.release('k', hold?.id ?? '')
    expect((await wide.check('k')).outcome).toBe('allowed')
  })

  it('is refused where the store has no holds, and so is release without a concurrency limit', async () => {
    const memory = memoryStore()
    const { groupOptions: _, ...capabilities } = memory.capabilities
    const store: Store = { ...memory, capabilities }
    expect(() => createLimiter({ limit: concurrency({ limit: 1, holdMs: 1_000 }), store })).toThrow(
      /is a concurrency, which its store \(memory\)/,
    )
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }) })
    await expect(limiter.release('k', 'x')).rejects.toThrow('has no concurrency limit')
    await expect(slots().limiter.release('k', 5 as never)).rejects.toThrow('hold is 5, expected a text')
  })
})

it("the app's clock counts for nothing: holds begin and end by the store's, whatever the clocks of the processes say", async () => {
  const [server, late] = [manualClock(), manualClock(1_700_000_000_000_000 - 3_600_000_000)]
  const store = remoteMemory(memoryStore({ clock: server }))
  const limit = concurrency({ limit: 1, holdMs: 10_000 })
  const [wrong, right] = [late, server].map((clock) => createLimiter({ limit, store, clock, deadlineMs: 60_000 }))
  const first = await wrong?.check('k')
  expect([first?.at, first?.hold?.expiresAt]).toEqual([server.now() / 1_000, server.now() / 1_000 + 10_000])
  expect((await right?.check('k'))?.outcome).toBe('denied')
  server.advance(10_000)
  expect((await right?.check('k'))?.outcome).toBe('allowed')
  expect((await wrong?.check('k'))?.outcome).toBe('denied')
})

describe('a ring around a store with slots', () => {
  it('remembers no denial: a slot that another process gave back is there at once', async () => {
    const memory = memoryStore()
    const far = remoteMemory(memory)
    const decide = vi.fn(far.decide)
    const one = remoteStore({ ...far, decide }, { deadline: 1_000 })
    const other = createLimiter({ limit: concurrency({ limit: 1, holdMs: 10_000 }), store: memory })
    const limiter = createLimiter({ limit: concurrency({ limit: 1, holdMs: 10_000 }), store: one })
    const { hold } = await other.check('k')
    for (let turn = 0; turn < 40; turn += 1) expect((await limiter.check('k')).source).toBe('store')
    expect(decide).toHaveBeenCalledTimes(40)
    await other.release('k', hold?.id ?? '')
    expect((await limiter.check('k')).outcome).toBe('allowed')
    await one.close()
  })

  it('says only the id of what may be held where the store failed, and the id of what the local fallback granted', async () => {
    const broken: Store = { ...remoteMemory(memoryStore()), decide: () => Promise.reject(new StoreFailure('timeout', 'unknown', 'gone')) }
    const limit = concurrency({ limit: 1, holdMs: 10_000 })
    const { hold, ...undecided } = await createLimiter({ limit, store: broken, onStoreFailure: 'allow' }).check('k')
    expect([undecided.outcome, Object.keys(hold ?? {})]).toEqual(['undecided', ['id']])
    const local = createLimiter({ limit, store: broken, onStoreFailure: 'local' })
    const first = await local.check('k')
    expect([first.source, (await local.check('k')).reason]).toEqual(['fallback', 'concurrency'])
    await local.release('k', first.hold?.id ?? '').catch(() => undefined)
    expect((await local.check('k')).outcome).toBe('allowed')
  })
})

describe('wait on a concurrency limit', () => {
  it('wakes on a release in this process, in the order of arrival', async () => {
    const { limiter } = slots({}, 1)
    const through: string[] = []
    const { hold } = await limiter.check('k')
    const waits = ['a', 'b'].map((name) => limiter.wait('k').then((decision) => (through.push(name), decision)))
    await settle()
    expect(through).toEqual([])
    await limiter.release('k', hold?.id ?? '')
    await settle()
    expect(through).toEqual(['a'])
    await limiter.release('k', (await waits[0])?.hold?.id ?? '')
    await settle()
    expect(through).toEqual(['a', 'b'])
  })

  it('asks again within 50 ms where another process gave back, or a hold ended', async () => {
    const store = memoryStore({ clock: manualClock() })
    const { limiter, advance } = slots({ store }, 1)
    const other = slots({ store }, 1).limiter
    const { hold } = await other.check('k')
    let done = false
    void limiter.wait('k').then(() => (done = true))
    await advance(500)
    expect(done).toBe(false)
    await other.release('k', hold?.id ?? '')
    await advance(50)
    expect(done).toBe(true)
  })

  it('is denied after maxWaitMs, and gives its slot back if its caller left meanwhile', async () => {
    const { limiter, advance } = slots({}, 1)
    const { hold } = await limiter.check('k')
    const late = limiter.wait('k', { maxWaitMs: 100 })
    await advance(60)
    await advance(60)
    expect(await late).toMatchObject({ outcome: 'denied', reason: 'concurrency' })
    const controller = new AbortController()
    const gone = limiter.wait('k', { signal: controller.signal })
    await settle()
    controller.abort(new Error('gone'))
    await expect(gone).rejects.toThrow('gone')
    await limiter.release('k', hold?.id ?? '')
    await settle()
    expect((await limiter.check('k')).outcome).toBe('allowed')
  })
})

describe('the law of slots, through the limiter', () => {
  it('live holders are never above the limit, and none is left one hold after the end, though 5 % of them die', async () => {
    const random = seeded(20_261_123)
    const clock = manualClock()
    const store = memoryStore({ clock })
    const limit = 20
    const limiter = createLimiter({ limit: concurrency({ limit, holdMs: 1_000 }), store, clock })
    const keys = ['a', 'b', 'c', 'd']
    const held = new Map(keys.map((key) => [key, [] as { id: string; until: number; dead: boolean }[]]))
    const counts = { allowed: 0, denied: 0 }
    for (let turn = 0; turn < draws(1_000_000, 5_000); turn += 1) {
      if (random() < 0.1) clock.advance(Math.floor(random() * 20))
      const now = clock.now() / 1_000
      const key = keys[Math.floor(random() * keys.length)] as string
      const mine = (held.get(key) as { id: string; until: number; dead: boolean }[]).filter(({ until }) => until > now)
      held.set(key, mine)
      const alive = mine.findIndex(({ dead }) => !dead)
      if (random() < 0.45 && alive !== -1) {
        const [one] = mine.splice(alive, 1)
        await limiter.release(key, one?.id ?? '')
        continue
      }
      const decision = limiter.checkSync(key)
      // A comparison by vitest for each of a million takes minutes.
      const remaining = limit - mine.length - (decision.allowed ? 1 : 0)
      if (decision.limits[0]?.remaining !== remaining) expect(decision.limits[0]?.remaining).toBe(remaining)
      if (decision.allowed !== mine.length < limit) expect(decision.allowed).toBe(mine.length < limit)
      if (!decision.allowed) {
        counts.denied += 1
        continue
      }
      counts.allowed += 1
      mine.push({ id: decision.hold?.id ?? '', until: decision.hold?.expiresAt ?? 0, dead: random() < 0.05 })
    }
    expect(Math.min(counts.allowed, counts.denied)).toBeGreaterThan(draws(10_000, 10))
    clock.advance(1_000)
    for (const key of keys) expect((await limiter.peek(key)).limits[0]).toMatchObject({ remaining: limit, resetAfterMs: 0 })
  }, 300_000)
})
