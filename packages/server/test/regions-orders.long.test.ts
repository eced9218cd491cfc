import { freePort } from '@sluice/scripts/engines'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Ran, run, type Running, serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const file = policyFiles()
const KEY = 'a-key-of-regions-of-32-characters-or-more'
const TOKEN = 'a-token-of-some-length'
const RULE = 'rules: [{ name: user, key: ["header:x-user"], rate: 100/s, burst: 100 }]\n'

/**
 * Starts the services of both regions, which know each other. Also returns a function that runs the command `sluice regions` for one of
 * them.
 */
async function bothRegions() {
  const ports = { eu: await freePort(), us: await freePort() }
  const peers = Object.entries(ports).map(([name, port]) => `${name}=http://127.0.0.1:${port}`)
  const policy = file(`version: 1\nregions: { peers: [${peers.join(', ')}] }\n${RULE}`)
  const args = [policy, '--region-key-file', file(KEY), '--admin-token-file', file(TOKEN)]
  const start = (self: 'eu' | 'us'): Promise<Running> => serve([...args, '--region', self, '--listen', `127.0.0.1:${ports[self]}`])
  const services = { eu: await start('eu'), us: await start('us') }
  onTestFinished(async () => void (await Promise.all(Object.values(services).map((service) => service.stop()))))
  const regions = (self: 'eu' | 'us', ...words: readonly string[]): Promise<Ran> =>
    run(['regions', ...words, '--url', `http://127.0.0.1:${ports[self]}`, '--token-file', file(TOKEN)])
  /** While a region is late, the service refuses a change with 409. So the command is repeated. */
  const change = async (self: 'eu' | 'us', ...words: readonly string[]): Promise<Ran> => {
    for (;;) {
      const ran = await regions(self, ...words)
      if (!ran.stderr.includes('answered 409')) return ran
    }
  }
  const status = async (self: 'eu' | 'us'): Promise<{ phase: string; era: number; units: number; weights: unknown }> =>
    JSON.parse((await regions(self, 'status', '--json')).stdout) as { phase: string; era: number; units: number; weights: unknown }
  const open = async (era: number): Promise<void> => {
    for (const self of ['eu', 'us'] as const)
      await expect
        .poll(() => status(self), { timeout: 30_000 })
        .toMatchObject({ phase: 'open', era: expect.toSatisfy((now) => now >= era) })
  }
  await open(1)
  return { services, start, regions, change, status, open }
}

describe('regions drain, remove and add', () => {
  it('move the weights of all regions, by any of them, and say what they wait for', { timeout: 120_000 }, async () => {
    const { services, start, regions, change, status, open } = await bothRegions()
    const drain = await change('eu', 'drain', 'us')
    expect([drain.code, drain.stdout]).toEqual([0, expect.stringMatching(/^region eu, era 2, open: [^]*\neu +1000 +this region\nus +0 /)])
    // What the command waits for. Nothing, if the era ended before it looked.
    expect(drain.stderr).toMatch(/^(sluice: regions: era 1 ends: |$)/)
    await open(2)
    expect([await status('eu'), await status('us')]).toMatchObject([
      { units: 1_000, weights: { eu: 1_000, us: 0 } },
      { units: 0, weights: { eu: 1_000, us: 0 } },
    ])
    const metrics = await (await fetch(`${services.us.url}/metrics`)).text()
    expect(metrics).toContain('sluice_region_weight{region="eu"} 1000\nsluice_region_weight{region="us"} 0\n')
    const remove = await change('us', 'remove', 'us')
    await open(3)
    expect([remove.code, remove.stdout]).toEqual([
      0,
      expect.stringMatching(/^region us, era 3, open, but not a member: [^]*\neu +1000 +http[^]*\nus +- +this region\n/),
    ])
    const alone = await (await fetch(`${services.eu.url}/metrics`)).text()
    expect(metrics).toContain('sluice_region_pulls_failed_total{peer="eu"}')
    expect(alone).not.toContain('{peer="us"}')
    // If all regions lose their stores, they begin again with the weights of the policy.
    expect(await services.us.stop()).toBe(0)
    expect(await services.eu.stop()).toBe(0)
    services.us = await start('us')
    services.eu = await start('eu')
    await open(1)
    expect((await status('eu')).weights).toEqual({ eu: 500, us: 500 })
    const add = await change('eu', 'add', 'us', '--weight', '100')
    expect([add.code, add.stdout]).toEqual([0, expect.stringMatching(/\neu +900 +this region\nus +100 /)])
    expect((await change('eu', 'add', 'ap')).stderr).toContain('weights has "ap", expected eu, us')
    expect((await regions('eu', 'drain', 'ap')).stderr).toContain('regions: NAME is "ap": expected one of eu, us')
    expect((await regions('eu', 'drain')).stderr).toContain('regions: NAME is missing: expected one of eu, us')
    expect((await regions('eu', 'status', 'us')).stderr).toContain('unexpected "us"')
  })

  it('adopt: the others go on without a region whose store never runs again', { timeout: 120_000 }, async () => {
    const { services, start, regions, change, status, open } = await bothRegions()
    const adopt = ['adopt', 'us', '--never-runs-again'] as const
    expect(await regions('eu', 'adopt', 'us')).toMatchObject({ code: 3, stderr: expect.stringContaining('needs --never-runs-again') })
    expect((await regions('eu', 'drain', 'us', '--never-runs-again')).stderr).toContain('adopt, and only that')
    expect((await regions('eu', ...adopt)).stderr).toContain('Region us is not gone: it answered less than 5 s ago. Remove it.')
    expect(await services.us.stop()).toBe(0)
    const ran = await change('eu', ...adopt)
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringMatching(/^region eu, era 2, open: [^]*\neu +1000 +this region\nus +- /)])
    const body = JSON.stringify({ weights: { eu: 1_000 }, gone: { us: 'another' } })
    const put = await fetch(`${services.eu.url}/v1/regions`, { method: 'PUT', headers: { authorization: `Bearer ${TOKEN}` }, body })
    expect([put.status, await put.text()]).toEqual([400, expect.stringContaining('knows a later run')])
    services.us = await start('us')
    await open(2)
    expect(await status('us')).toMatchObject({ units: 0, weights: { eu: 1_000 } })
    expect((await change('eu', 'add', 'us')).stdout).toMatch(/\neu +500 +this region\nus +500 /)
  })

  it('are refused while a region cannot be reached, and for fixed parts', { timeout: 60_000 }, async () => {
    const { services, regions, status } = await bothRegions()
    expect(await services.us.stop()).toBe(0)
    // First eu has to notice that us is away. Before that, `drain` would end the present division of the limit (the era). The next one
    // could begin only once us is back.
    await expect.poll(async () => (await regions('eu', 'status')).stdout, { timeout: 30_000 }).toContain('us cannot be read')
    await expect
      .poll(async () => Object.values(((await status('eu')) as unknown as { peers: object }).peers)[0]?.lagMs, { timeout: 30_000 })
      .toBeGreaterThan(5_000)
    const drain = await regions('eu', 'drain', 'us')
    expect([drain.code, drain.stderr]).toEqual([1, expect.stringContaining('answered 409: No era can begin while us cannot be reached')])
    expect(await status('eu')).toMatchObject({ phase: 'open', era: 1 })
    const fixed = await serve([
      file(`version: 1\nregions: { weights: { eu: 700, us: 300 }, mode: fixed }\n${RULE}`),
      '--region',
      'eu',
      '--admin-token-file',
      file(TOKEN),
    ])
    const ran = await run(['regions', 'drain', 'us', '--url', fixed.url, '--token-file', file(TOKEN)])
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining('the parts are fixed')])
    for (const [body, code] of [
      ['{"weights":{"eu":1000}}', 409],
      ['{"weights":[]}', 400],
      ['{"weights":{},"more":1}', 400],
      ['[]', 400],
    ] as const) {
      const put = await fetch(`${fixed.url}/v1/regions`, { method: 'PUT', headers: { authorization: `Bearer ${TOKEN}` }, body })
      expect([body, put.status]).toEqual([body, code])
    }
    expect((await fetch(`${fixed.url}/v1/regions`, { method: 'PUT', body: '{}' })).status).toBe(401)
    expect(await fixed.stop()).toBe(0)
  })
})
