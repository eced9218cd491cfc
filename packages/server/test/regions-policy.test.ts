import { readFileSync } from 'node:fs'
import { freePort } from '@sluice/scripts/engines'
import { memoryStore } from 'sluice'
import { regionalStore } from 'sluice/regions'
import { describe, expect, inject, it } from 'vitest'
import { regionFacts } from '../src/policy/region-facts.ts'
import { run, type Running, serve } from './command.ts'
import { ADMIN, local } from './in-process.ts'
import { policyFiles } from './policy-file.ts'

const redis = inject('engines').redis
const file = policyFiles()
const KEY = 'a-key-of-regions-of-32-characters-or-more'
const TOKEN = 'a-token-of-some-length'
const RULE = 'rules: [{ name: user, key: ["header:x-user"], rate: 100/s, burst: 100 }]\n'
const policy = (regions: string, more = ''): string => `version: 1\nregions: ${regions}\n${more}${RULE}`
const ADDRESSES = 'peers: [eu=http://127.0.0.1:1, us=http://127.0.0.1:2/below]'

describe('a policy with regions', () => {
  it('is described by check, with the bound of all regions and what no bound has', async () => {
    const path = file(policy(`{ ${ADDRESSES}, weights: { eu: 600, us: 400 } }`, 'failure: { policy: local, processes: 2, outage: 1s }\n'))
    const ran = await run(['check', path, '--store', 'redis://h'])
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect(ran.stdout).toContain(`
  regions eu 600, us 400 of 1000 units, mode escrow; this region is said by --region
    in no bound: a primary that still answers after another one was promoted: its part of burst + rate * the time that it does
    in no bound: steps of the clock of a store, forward: rate * step
`)
    expect(ran.stdout).toContain(
      'bound: over-grant over all regions together 0 while the store decides, 400 while it does not, for at most 2 processes in each region and 1000 ms\n',
    )
    const { regions } = JSON.parse((await run(['check', path, '--json'])).stdout) as { regions: unknown }
    expect(regions).toEqual({
      mode: 'escrow',
      regions: [
        { name: 'eu', weight: 600, address: 'http://127.0.0.1:1' },
        { name: 'us', weight: 400, address: 'http://127.0.0.1:2/below' },
      ],
      notBounded: [expect.stringContaining('promoted'), expect.stringContaining('clock')],
    })
  })

  it('with counters has a bound by its cutoff, and other things that no bound has', async () => {
    const path = file(policy('{ peers: [eu, us], mode: counters, cutoff: 3s }').replace('burst: 100', 'burst: 100, maxOvergrant: 400'))
    const { stdout } = await run(['check', path])
    expect(stdout).toContain('\n  regions eu 500, us 500 of 1000 units, mode counters, cutoff 3000 ms; this region is said by --region\n')
    expect(stdout).toContain('in no bound: a service that is restarted')
    expect(stdout).toContain('over-grant over all regions together 400, which is (N - 1) (B + r S) for 2 regions and a cutoff of 3000 ms')
    const beyond = await run([
      'check',
      file(policy('{ peers: [eu, us], mode: counters }', 'store: "memory:"\n').replace('burst: 100', 'burst: 100, maxOvergrant: 400')),
    ])
    expect(beyond.stdout + beyond.stderr).toContain('400 is below its bound on this store, unbounded')
  })

  it('gets a warning of check for what its mode does not offer or cannot divide, so that serve would not start', async () => {
    const overridden = (mode: string): string =>
      `${RULE.replace(' }]', `, mode: ${mode} }]`)}overrides: [{ rule: user, key: partner, algorithm: concurrency, limit: 1, hold: 1s }]\n`
    const SLOTS = 'rules: [{ name: jobs, key: [], algorithm: concurrency, limit: 4, hold: 1s }]\n'
    const bounded = (maxHolds: number): string => `reservations: { maxHolds: ${maxHolds} }\n`
    const warned = async (mode: string, more: string, rules = RULE): Promise<string> => {
      const ran = await run(['check', file(policy(`{ peers: [eu, us], mode: ${mode} }`, more).replace(RULE, rules))])
      return ran.stdout + ran.stderr
    }
    const why = 'concurrency limits are not offered with regions of mode counters; mode escrow and mode fixed can; serve would not start'
    expect(await warned('counters', '', SLOTS)).toContain(`rule jobs: ${why}`)
    expect(await warned('counters', bounded(4))).toContain(`reservations.maxHolds: ${why}`)
    expect(await warned('fixed', bounded(1))).toContain(
      'reservations.maxHolds: the part of region eu, 500 of 1000 units, is at most 0.5 of 1',
    )
    expect(await warned('counters', '', overridden('enforce'))).toContain(`overrides[0] of rule user: ${why}`)
    expect(await warned('fixed', '', overridden('enforce'))).toContain(
      'overrides[0] of rule user: the part of region eu, 500 of 1000 units',
    )
    expect(await warned('fixed', '', overridden('off'))).not.toContain('would not start')
    for (const mode of ['fixed', 'escrow']) expect(await warned(mode, bounded(4), SLOTS)).not.toContain('would not start')
  })

  it('is described by explain and GET /v1/policy', async () => {
    const text = policy('{ self: ap, peers: [eu, us], mode: fixed }')
    const ran = await run(['explain', file(text), '--path', '/'])
    expect(ran.stdout).toContain('\n  each region decides by its part: ap 334, eu 333, us 333 of 1000 units, mode fixed\n')
    const { url } = await local(text)
    const shown = (await (await fetch(`${url}/v1/policy`, { headers: ADMIN })).json()) as { regions: unknown }
    expect(shown.regions).toMatchObject({
      self: 'ap',
      mode: 'fixed',
      regions: [{ name: 'ap', weight: 334 }, { name: 'eu' }, { name: 'us' }],
    })
  })

  it('has the weights that a regional store computes', () => {
    for (const count of [1, 2, 3, 7, 999, 1_000]) {
      const names = Array.from({ length: count }, (_, index) => `r${index}`)
      const { weights } = regionalStore({ store: memoryStore(), self: 'r0', peers: names.slice(1) })
      const facts = regionFacts({ self: 'r0', mode: 'fixed', peers: names.slice(1).map((name) => ({ name })) })
      expect(Object.fromEntries(facts.regions.map(({ name, weight }) => [name, weight]))).toEqual(weights)
    }
  })

  it.each([
    [
      'counters',
      'redis://127.0.0.1:1',
      'regions with mode counters run over memory: in this version, and the store is redis://127.0.0.1:1',
    ],
    ['escrow', 'pglite:./data', '--region runs over memory:, redis://,'],
  ])('gets a warning of check if mode %s does not run over %s', async (mode, store, why) => {
    const path = file(policy(`{ peers: [eu, us], mode: ${mode} }`, `store: "${store}"\n`))
    expect((await run(['check', path])).stdout).toContain(`warning: ${why}`)
    const memory = await run(['check', path, '--store', 'memory:'])
    expect([memory.code, memory.stdout]).toEqual([0, expect.not.stringContaining('would not start')])
  })

  it.each([
    ['a part below one call', '{ peers: [eu, us], mode: fixed }', 'rate: 1/s, burst: 1', 'is at most 0.5 of 1 tokens'],
    ['shares that are not exact', '{ peers: [eu, us] }', 'rate: 1/s, burst: 0.0005', "a region's share of 1 in 1000: its burst is below"],
  ])('is warned of by check, and refused by serve, for %s', async (_name, regions, limit, why) => {
    const path = file(`version: 1\nregions: ${regions}\nrules: [{ name: all, key: [], ${limit} }]\n`)
    const checked = await run(['check', path])
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringMatching(/^warning: rule all: .*; serve would not start$/m)])
    expect(checked.stdout).toContain(why)
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    const served = await run(['serve', path, '--region', 'eu', '--region-key-file', file(KEY), '--peers', 'us=http://127.0.0.1:1'], {
      PORT: '0',
    })
    expect([served.code, served.stderr]).toEqual([1, expect.stringContaining(why)])
    // The region does not go on without its service.
    await expect.poll(() => timers() - before, { timeout: 2_000 }).toBeLessThanOrEqual(0)
  })

  it.each([
    [['serve'], {}, 'the policy has regions, and nothing says which one this is: give --region, SLUICE_REGION or regions.self'],
    [['serve', '--region', 'ap'], {}, '--region is "ap": the regions of the policy are eu, us'],
    [['serve'], { SLUICE_REGION: 'ap' }, 'SLUICE_REGION is "ap": the regions of the policy are eu, us'],
    [['serve', '--region', 'eu', '--peers', 'us=http://h,ap=http://h'], {}, '--peers names ap, us: the other regions of the policy are us'],
    [['serve', '--region', 'eu', '--region-weights', 'eu=5,ap=5'], {}, '--region-weights is for ap, eu, and the regions are eu, us'],
    [['serve', '--region', 'eu'], {}, 'regions need --region-key-file'],
    [['serve', '--region', 'eu', '--store', 'pglite:folder', '--region-key-file', 'k'], {}, 'or use mode fixed'],
    [['serve', '--region', 'eu', '--store', 'redis://h', '--workers', '2'], {}, '--region needs one process'],
    [['inspect', 'ada', '--store', 'redis://h'], {}, 'the policy has regions, whose stores hold parts of the limits'],
  ])('%j %j is refused: %s', async ([verb = '', ...args], env, message) => {
    const path = file(policy(`{ ${ADDRESSES} }`))
    const ran = await run([verb, ...args, ...(verb === 'serve' ? [path] : ['--policy', path])], { PORT: '0', ...env } as Record<
      string,
      string
    >)
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining(message)])
  })

  it('without an address of a peer is refused, unless --peers has it', async () => {
    const args = ['serve', file(policy('{ peers: [eu, us] }')), '--region', 'eu', '--region-key-file', file(KEY)]
    const ran = await run(args, { PORT: '0' })
    expect([ran.code, ran.stderr]).toEqual([
      3,
      expect.stringContaining('region us has no address: write us=https://... into regions.peers'),
    ])
    const service = await serve([...args.slice(1), '--peers', 'us=http://127.0.0.1:1'])
    expect(await service.stop()).toBe(0)
  })
})

/** A service of one region, with an address that is free. */
async function start(self: string, text: string, ...args: readonly string[]): Promise<Running> {
  return serve([file(text), '--region', self, '--admin-token-file', file(TOKEN), ...args])
}

const allowed = async ({ url }: Running, calls: number): Promise<number> => {
  const body = JSON.stringify(Array.from({ length: calls }, () => ({ key: 'ada', limit: 'user' })))
  const answers = (await (await fetch(`${url}/v1/checks`, { method: 'POST', body })).json()) as { outcome: string }[]
  return answers.filter(({ outcome }) => outcome === 'allowed').length
}

describe('regions of one policy', () => {
  const FIXED = policy('{ peers: [eu, us], weights: { eu: 600, us: 300 }, mode: fixed }').replace('100/s', '1/h')

  it('fixed: each grants its part, without a key and without calls to the others', async () => {
    const services = [await start('eu', FIXED), await start('us', FIXED)] as const
    expect([await allowed(services[0], 150), await allowed(services[1], 150)]).toEqual([60, 30])
    const text = await (await fetch(`${services[0].url}/metrics`)).text()
    expect(text).toContain('sluice_region_weight{region="eu"} 600\nsluice_region_weight{region="us"} 300\n')
    expect(text).not.toContain('sluice_region_phase')
    expect(await (await fetch(services[0].url)).text()).toContain(
      'This is region eu. Thousandths of each limit, mode fixed: eu 600, us 300. All regions together exceed no limit while their stores decide.',
    )
    expect((await fetch(`${services[0].url}/v1/regions/pull`, { method: 'POST' })).status).toBe(404)
    for (const service of services) expect(await service.stop()).toBe(0)
  })

  it.skipIf(redis === undefined)('fixed: over a server', async () => {
    const name = `parts-${process.pid}`
    const text = FIXED.replace('name: user', `name: ${name}`).replace('version: 1', 'version: 1\nfailure: { deadline: 20s }')
    const [eu, us] = [new URL(redis as string), new URL(redis as string)]
    // Each region needs a store of its own. Here the second one uses another database of the same Redis.
    us.pathname = '/1'
    const services = [await start('eu', text, '--store', eu.href), await start('us', text, '--store', us.href)] as const
    const passed = await Promise.all(
      services.map(async ({ url }) => {
        const body = JSON.stringify(Array.from({ length: 150 }, () => ({ key: 'ada', limit: name })))
        const answers = (await (await fetch(`${url}/v1/checks`, { method: 'POST', body })).json()) as { outcome: string }[]
        return answers.filter(({ outcome }) => outcome === 'allowed').length
      }),
    )
    expect(passed).toEqual([60, 30])
    for (const service of services) expect(await service.stop()).toBe(0)
  })

  it('a policy with other regions is refused while the service runs; the same in another order is taken', async () => {
    const { url } = await local(FIXED)
    const put = async (text: string): Promise<[number, string]> => {
      const answer = await fetch(`${url}/v1/policy`, { method: 'PUT', headers: ADMIN, body: text })
      return [answer.status, await answer.text()]
    }
    const other = await put(FIXED.replace('600', '500'))
    expect(other).toEqual([409, expect.stringContaining('it has other regions than those in use: a change of regions needs a restart')])
    expect((await put(FIXED.replace(/regions: .*\n/, '')))[0]).toBe(409)
    expect((await put(FIXED.replace('[eu, us]', '[us, eu]').replace('eu: 600, us: 300', 'us: 300, eu: 600')))[0]).toBe(200)
  })

  it('weights of the arguments replace those of the policy', async () => {
    const service = await start('eu', FIXED, '--region-weights', 'us=0,eu=900')
    expect(await allowed(service, 150)).toBe(90)
    expect(await service.stop()).toBe(0)
    const none = await run(['serve', file(FIXED), '--region', 'us', '--region-weights', 'us=0,eu=900'], { PORT: '0' })
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('expected at least 1: this region would deny every call')])
  })

  it('the policy that comes along: regions that know each other by it alone, and a region with all requests gets the rest', async () => {
    const ports = [await freePort(), await freePort()] as const
    const read = readFileSync(new URL('../policies/two-regions.yaml', import.meta.url), 'utf8')
    const text = read.replace('8081', String(ports[0])).replace('8082', String(ports[1]))
    const key = ['--region-key-file', file(KEY)]
    const eu = await start('eu', text, '--listen', `127.0.0.1:${ports[0]}`, ...key)
    const us = await start('us', text, '--listen', `127.0.0.1:${ports[1]}`, ...key)
    const metric = async ({ url }: Running, name: string): Promise<number> => {
      const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n')
      return Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1])
    }
    for (const service of [eu, us]) await expect.poll(() => metric(service, 'sluice_region_phase'), { timeout: 30_000 }).toBe(0)
    const body = JSON.stringify(Array.from({ length: 40 }, () => ({ path: '/' })))
    const flood = async (): Promise<number> => {
      await (await fetch(`${eu.url}/v1/checks`, { method: 'POST', body })).text()
      return metric(eu, 'sluice_region_units_total{direction="received"}')
    }
    await expect.poll(flood, { timeout: 30_000 }).toBeGreaterThanOrEqual(400)
    for (const service of [eu, us]) expect(await service.stop()).toBe(0)
  }, 90_000)
})
