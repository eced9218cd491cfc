import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { createGate, type Passage, type RequestReader } from '../../src/http/gate.ts'
import type { GateOptions } from '../../src/http/gate-options.ts'
import { createLimiter, type Limiter, memoryStore, type Store, tokenBucket } from '../../src/index.ts'
import { manualClock } from '../../src/time/manual.ts'
import { remoteMemory } from '../remote-memory.ts'

/** A request of no real framework: it has headers, and nothing else that a gate reads. */
type Plain = Readonly<Record<string, string>>
const reader: RequestReader<Plain> = { method: () => 'GET', target: () => '/a?b', headers: (headers) => headers }
const limiter = (burst: number, store?: Store): Limiter =>
  createLimiter({ limit: tokenBucket({ rate: '1/h', burst }), clock: manualClock(), ...(store === undefined ? {} : { store }) })
const gate = (options: GateOptions<Plain>) => createGate(options, reader)

describe('a gate', () => {
  it('answers at once over a store in this process, and later over another, with the same answer', async () => {
    const near = gate({ limiter: limiter(1) })
    const far = gate({ limiter: limiter(1, remoteMemory(memoryStore({ clock: manualClock() }))) })
    for (const outcome of ['allowed', 'denied', 'denied']) {
      const now = near.check({}, '192.0.2.1')
      expect(now).not.toBeInstanceOf(Promise)
      const later = far.check({}, '192.0.2.1')
      expect(later).toBeInstanceOf(Promise)
      expect((await later).decision).toEqual((now as Passage).decision)
      expect((await later).decision?.outcome).toBe(outcome)
      expect((await later).answer).toEqual((now as Passage).answer)
    }
  })

  it('takes promises of another realm', async () => {
    const elsewhere = runInNewContext('Promise') as PromiseConstructor
    const limitedGate = gate({
      limiter: limiter(3),
      key: () => elsewhere.resolve('a'),
      cost: () => elsewhere.resolve(2),
      skip: () => elsewhere.resolve(false),
    })
    expect((await limitedGate.check({}, undefined)).decision?.limits[0]?.remaining).toBe(1)
  })

  it('reads nothing of a request that no option needs', () => {
    const closed = { method: fails, target: fails, headers: fails, route: fails }
    expect((createGate({ limiter: limiter(1), trustedProxies: [] }, closed).check({}, '192.0.2.1') as Passage).decision?.allowed).toBe(true)
  })

  it('counts peers by their address, however it is spelt and however many there are', async () => {
    const limitedGate = gate({ limiter: limiter(2) })
    const outcome = async (peer: string | undefined): Promise<string | undefined> => (await limitedGate.check({}, peer)).decision?.outcome
    for (const peer of ['192.0.2.1', '::ffff:192.0.2.1', undefined, '', '2001:db8::1', '2001:DB8::2%eth0'])
      expect(await outcome(peer)).toBe('allowed')
    for (let index = 0; index < 10_000; index += 1) await outcome(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`)
    for (const peer of ['192.0.2.1', '::ffff:c000:201', undefined, '2001:db8::3']) expect(await outcome(peer)).toBe('denied')
  })

  it('remembers a proxy as a peer of its own, apart from the clients it speaks for', async () => {
    const limitedGate = gate({ limiter: limiter(1), trustedProxies: ['10.0.0.0/8'] })
    const outcome = async (headers: Plain): Promise<string | undefined> => (await limitedGate.check(headers, '10.1.1.1')).decision?.outcome
    const client = { 'x-forwarded-for': '192.0.2.1' }
    expect([await outcome({}), await outcome(client), await outcome({}), await outcome(client)]).toEqual([
      'allowed',
      'allowed',
      'denied',
      'denied',
    ])
  })

  it('distinguishes denials of one limit by their reason', async () => {
    const limited = limiter(2)
    const limitedGate = gate({ limiter: limited, key: () => 'a', cost: ({ cost }) => Number(cost) })
    const reason = async (cost: string): Promise<unknown> => {
      const { answer } = await limitedGate.check({ cost }, undefined)
      expect(JSON.parse(answer?.body ?? '')).toEqual(answer?.problem)
      return answer?.problem.reason
    }
    await limitedGate.check({ cost: '2' }, undefined)
    expect([await reason('1'), await reason('3'), await reason('1')]).toEqual(['quota', 'capacity', 'quota'])
    await limited.block('a', '1h')
    expect([await reason('1'), await reason('1')]).toEqual(['blocked', 'blocked'])
  })

  it('distinguishes denials of several limits by the limit', async () => {
    const limits = { few: tokenBucket({ rate: '1/h', burst: 2 }), small: tokenBucket({ rate: '1/h', burst: 3 }) }
    const limitedGate = gate({
      limiter: createLimiter({ limits, clock: manualClock() }),
      key: ({ key = '' }) => key,
      cost: ({ cost }) => Number(cost),
    })
    const violated = async (key: string, cost: string): Promise<unknown> =>
      (await limitedGate.check({ key, cost }, undefined)).answer?.problem['violated-policies']
    expect([await violated('a', '2'), await violated('a', '1'), await violated('b', '3')]).toEqual([undefined, ['few'], ['few']])
    const reversed = gate({
      limiter: createLimiter({ limits: { big: limits.small, few: limits.few }, clock: manualClock() }),
      key: () => 'a',
      cost: 4,
    })
    expect((await reversed.check({}, undefined)).answer?.problem['violated-policies']).toEqual(['big'])
  })

  it('spreads retries by caller and path, not by the query, and tries only once whether a store is synchronous that is not', async () => {
    const limited = limiter(1, remoteMemory(memoryStore({ clock: manualClock() })))
    let calls = 0
    const counting: Limiter = { ...limited, checkSync: (...args) => ((calls += 1), limited.checkSync(...args)) }
    const targets: RequestReader<Plain> = { ...reader, target: ({ target = '' }) => target }
    const counted = createGate({ limiter: counting }, targets)
    const identities: string[] = []
    for (const target of ['/a', '/a', '/a?b', '/c']) identities.push((await counted.check({ target }, '192.0.2.1')).identity)
    expect([calls, identities[1] === identities[2], identities[1] === identities[3]]).toEqual([1, true, false])
  })

  it.each([
    [{ key: () => 'a' }, 'key is for a limiter'],
    [{ trustedProxies: ['loopback'] }, 'trustedProxies is for a limiter'],
    [{ limiter: limiter(1) }, 'either limiter or engine'],
  ])('refuses what an engine would ignore: %j', (options, message) => {
    const engine = { decide: () => Promise.reject(new Error('never called')) }
    expect(() => gate({ engine, ...options })).toThrow(message)
    expect(() => gate({ engine: {} as never })).toThrow('engine is {}, expected what createEngine gave')
  })
})

function fails(): never {
  throw new Error('read without need')
}
