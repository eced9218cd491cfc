import { fileURLToPath } from 'node:url'
import { expect, inject, it } from 'vitest'
import { serve } from './command.ts'
import { policyFiles } from './policy-file.ts'
import { firing } from './promtool.ts'

const promtool = inject('engines').promtool ?? ''
const RULES = fileURLToPath(new URL('../../../examples/alerts/sluice.rules.yaml', import.meta.url))
const file = policyFiles()

it.skipIf(promtool === '')(
  'O6: alerts fire on the metrics of a region that nobody answers, and that somebody without the key calls',
  async () => {
    const policy = 'version: 1\nrules: [{ name: all, key: [], rate: 100/s, burst: 100 }]\n'
    const args = [
      '--region',
      'eu',
      '--peers',
      'us=http://127.0.0.1:1',
      '--region-key-file',
      file('a-key-of-regions-of-32-characters-or-more'),
    ]
    const service = await serve([file(policy), ...args])
    const scrape = async (): Promise<string> => (await fetch(`${service.url}/metrics`)).text()
    const failed = (text: string): number => Number(/^sluice_region_pulls_failed_total\{peer="us"\} (\d+)$/m.exec(text)?.[1])
    const before = await scrape()
    for (let sent = 0; sent < 3; sent += 1) {
      const refused = await fetch(`${service.url}/v1/regions/pull`, { method: 'POST', body: '{}' })
      expect([refused.status, await refused.json()]).toEqual([401, expect.anything()])
    }
    await expect.poll(async () => failed(await scrape()), { timeout: 30_000 }).toBeGreaterThan(failed(before))
    const scrapes = [
      { minute: 0, text: before },
      { minute: 20, text: await scrape() },
    ]
    const alerts = ['SluiceRegionNotOpen', 'SluiceRegionPullsFail', 'SluiceRegionRequestsRefused']
    expect(firing(promtool, RULES, scrapes, alerts, 'SluiceRegion.*')).toMatch(/^0\n/)
    expect(await service.stop()).toBe(0)
  },
)

it.skipIf(promtool === '')(
  'O6: an alert fires on the metrics of a region that could read another one, and no longer can',
  async () => {
    const policy = file('version: 1\nrules: [{ name: all, key: [], rate: 100/s, burst: 100 }]\n')
    const key = file('a-key-of-regions-of-32-characters-or-more')
    const start = (self: string, peers: string) => serve([policy, '--region', self, '--peers', peers, '--region-key-file', key])
    const us = await start('us', 'eu=http://127.0.0.1:1')
    const eu = await start('eu', `us=${us.url}`)
    const scrape = async (): Promise<string> => (await fetch(`${eu.url}/metrics`)).text()
    const lag = (text: string): number => Number(/^sluice_region_lag_seconds\{peer="us"\} (\S+)$/m.exec(text)?.[1] ?? -1)
    await expect.poll(async () => lag(await scrape()), { timeout: 30_000 }).toBeGreaterThan(0)
    const before = { minute: 0, text: await scrape() }
    expect(await us.stop()).toBe(0)
    // 30 s is the threshold of the alert. The test has to wait for real, because it cannot set the clock of a service.
    await expect.poll(async () => lag(await scrape()), { timeout: 60_000, interval: 1_000 }).toBeGreaterThan(30)
    const after = { minute: 20, text: await scrape() }
    expect(firing(promtool, RULES, [before, { ...before, minute: 20 }], [], 'SluiceRegionLag')).toMatch(/^0\n/)
    expect(firing(promtool, RULES, [before, after], ['SluiceRegionLag'], 'SluiceRegionLag')).toMatch(/^0\n/)
    expect(await eu.stop()).toBe(0)
  },
  120_000,
)
