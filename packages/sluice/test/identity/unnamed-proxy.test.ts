import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createEngine } from '../../src/create-engine.ts'
import { createLimiter } from '../../src/create-limiter.ts'
import { createGate, type GateOptions } from '../../src/http.ts'
import { trustProxies } from '../../src/identity/trusted-proxies.ts'
import { type Engine, type EngineOptions, parsePolicy } from '../../src/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'

type Headers = Readonly<Record<string, string>>
const FORWARDED: Headers = { 'x-forwarded-for': '198.51.100.7' }
const policyOf = (rest: string) => parsePolicy(`version: 1\n${rest}`)
const BY_IP = 'rules: [{ name: a, key: ["ip:address"], rate: 1/s, burst: 9 }]'
let warnings: string[] = []
const onWarning = (message: string): void => void warnings.push(message)

function gateWith(options: Omit<GateOptions<Headers>, 'limiter'>) {
  const limiter = createLimiter({ limit: tokenBucket({ rate: '1000/s', burst: 1_000_000 }) })
  const gate = createGate<Headers>({ limiter, onWarning, ...options }, { method: () => 'GET', target: () => '/', headers: (one) => one })
  return (peer: string | undefined, headers: Headers = FORWARDED) => gate.check(headers, peer)
}
function engineWith(text: string, options: Partial<EngineOptions> = {}): Engine {
  return createEngine({ policy: policyOf(text), store: memoryStore(), onWarning, ...options })
}
const decide = (engine: Engine, ip: string, headers: Headers = FORWARDED) => engine.decide({ method: 'GET', path: '/', headers, ip })

afterEach(() => {
  warnings = []
  vi.restoreAllMocks()
})

describe('U6: a proxy that is not named is warned of', () => {
  it('in one line, once, with the header and without its address', async () => {
    const check = gateWith({})
    for (const peer of ['10.0.0.7', '10.0.0.7', '10.0.0.8']) await check(peer)
    expect(warnings).toEqual([
      'rateLimit: a request from a private address has the header x-forwarded-for, but trustedProxies does not name this address, so the header is not believed. If it is a proxy, all its clients count as one: name it in trustedProxies. If clients connect directly, an empty trustedProxies ends this warning.',
    ])
  })

  it.each(['forwarded', 'x-real-ip'])('by %s too', async (name) => {
    await gateWith({})('::ffff:10.0.0.7', { [name]: 'x' })
    expect(warnings).toEqual([expect.stringContaining(`a request from a private address has the header ${name},`)])
  })

  it.each([
    ['203.0.113.9', 'a public address'],
    ['192.168.7.31', 'a private address'],
    ['fd00::31', 'a private address'],
    ['fe80::31%eth0', 'a private address'],
    ['127.0.0.1', 'this machine'],
    ['::ffff:127.0.0.1', 'this machine'],
    ['::1', 'this machine'],
  ])('without the address %s, which may be a client', async (peer, from) => {
    await gateWith({})(peer)
    expect(warnings).toEqual([expect.stringContaining(`a request from ${from} has`)])
    expect(warnings.join()).not.toContain(peer)
  })

  it('also after health checks of the proxy without the header', async () => {
    const check = gateWith({})
    for (let index = 0; index < 100; index += 1) await check('10.0.0.7', {})
    expect(warnings).toEqual([])
    await check('10.0.0.7')
    expect(warnings).toHaveLength(1)
  })

  it('reads headers of new peers only, after a thousand requests', async () => {
    const read: string[] = []
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1000/s', burst: 1_000_000 }) })
    const headers = (peer: string) => (read.push(peer), {})
    const gate = createGate<string>({ limiter, onWarning }, { method: () => 'GET', target: () => '/', headers })
    for (let index = 0; index < 1_010; index += 1) await gate.check('known', '10.0.0.7')
    expect(read.splice(0).length).toBeLessThan(1_010)
    await gate.check('known', '10.0.0.7')
    await gate.check('new', '10.0.0.8')
    expect(read).toEqual(['new'])
  })

  it.each([
    ['an empty list', { trustedProxies: [] }, '10.0.0.7', 0],
    ['empty trustProxies', { trustedProxies: trustProxies([]) }, '10.0.0.7', 0],
    ['the proxy in the list', { trustedProxies: ['10.0.0.0/8'] }, '10.0.0.7', 0],
    ['another private address in the list', { trustedProxies: ['loopback'] }, '10.0.0.7', 1],
    ['a client on the internet', { trustedProxies: ['loopback'] }, '203.0.113.9', 0],
    ['another header', { trustedProxies: trustProxies(['loopback'], 'x-real-ip') }, '10.0.0.7', 0],
    ['no peer', {}, undefined, 0],
  ])('with %s', async (_what, options, peer, count) => {
    await gateWith(options)(peer)
    expect(warnings).toHaveLength(count)
  })

  it('but not with a key of the program, which no address changes', async () => {
    const said = vi.spyOn(console, 'warn').mockImplementation(() => {})
    await gateWith({ key: () => 'k', onWarning: undefined as never })('10.0.0.7')
    expect(said).not.toHaveBeenCalled()
  })

  it('on the console once in a process, without the option', async () => {
    // Test files share a process, and the warning comes once in a process. Another file may have caused it already, so the modules are
    // loaded anew.
    vi.resetModules()
    const { createGate: newGate } = await import('../../src/http.ts')
    const { createEngine: newEngine } = await import('../../src/create-engine.ts')
    const said = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1000/s', burst: 1_000 }) })
    const gate = newGate<Headers>({ limiter }, { method: () => 'GET', target: () => '/', headers: (one) => one })
    for (let index = 0; index < 2; index += 1) await gate.check(FORWARDED, '10.0.0.7')
    await decide(newEngine({ policy: policyOf(BY_IP), store: memoryStore() }), '10.0.0.7')
    expect(said.mock.calls).toEqual([[expect.stringMatching(/^sluice: rateLimit: a request from a private address has/)]])
  })

  it('a function that throws changes no decision', async () => {
    const fail = (): never => {
      throw new Error('no log')
    }
    expect(await gateWith({ onWarning: fail })('10.0.0.7')).toMatchObject({ decision: { allowed: true } })
  })

  it('a function that rejects neither changes a decision nor ends the process', async () => {
    const unhandled = vi.fn<() => void>()
    process.on('unhandledRejection', unhandled)
    onTestFinished(() => void process.off('unhandledRejection', unhandled))
    let calls = 0
    // Not by `vi.fn`, which handles the rejections of what it returns.
    const fail = (): never => {
      calls += 1
      return Promise.reject(new Error('no log')) as never
    }
    expect(await gateWith({ onWarning: fail })('10.0.0.7')).toMatchObject({ decision: { allowed: true } })
    await decide(engineWith(BY_IP, { onWarning: fail }), '10.0.0.7')
    await new Promise((resolve) => setImmediate(resolve))
    expect([calls, unhandled.mock.calls.length]).toEqual([2, 0])
  })
})

describe('U6: an engine warns of a proxy that its policy does not name', () => {
  it.each([
    ['a key', BY_IP, 1],
    [
      'a tier',
      'rules: [{ name: a, key: [], tiers: [{ when: { ip:address: 10.0.0.1 }, rate: 1/s, burst: 9 }, { rate: 1/s, burst: 9 }] }]',
      1,
    ],
    ['no rule', 'rules: [{ name: a, key: ["header:x"], rate: 1/s, burst: 9 }]', 0],
    ['a rule that is off', BY_IP.replace('burst: 9', "burst: 9, mode: 'off'"), 0],
    ['a key, and the list is empty', `trustedProxies: []\n${BY_IP}`, 0],
    ['a key, and the proxy is named', `trustedProxies: [uniquelocal]\n${BY_IP}`, 0],
    ['a key, and another proxy is named', `trustedProxies: [loopback]\n${BY_IP}`, 1],
  ])('if %s reads addresses', async (_what, text, count) => {
    const engine = engineWith(text)
    await decide(engine, '10.0.0.7')
    await decide(engine, '10.0.0.8')
    expect(warnings).toHaveLength(count)
  })

  it('once, also after a reload; the option of the engine replaces the list of the policy', async () => {
    const engine = engineWith(BY_IP)
    await decide(engine, '10.0.0.7')
    engine.reload(policyOf(BY_IP))
    await decide(engine, '10.0.0.7')
    expect(warnings).toEqual([expect.stringMatching(/^engine: a request from a private address has the header x-forwarded-for/)])
    await decide(engineWith(BY_IP, { trustedProxies: [] }), '10.0.0.7')
    expect(warnings).toHaveLength(1)
  })
})
