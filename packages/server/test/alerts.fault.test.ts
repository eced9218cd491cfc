import { existsSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Engine, findRedis, startRedis } from '@sluice/scripts/engines'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { parse } from 'yaml'
import { type Running, serve, serveBuilt } from './command.ts'
import { policyFiles } from './policy-file.ts'
import { firing, runProgram, type Scrape } from './promtool.ts'

const engines = inject('engines')
const promtool = engines.promtool ?? ''
const redis = engines.redis === undefined ? { missing: 'no engine' } : findRedis()
const ROOT = new URL('../../../', import.meta.url)
const FOLDER = fileURLToPath(new URL('examples/alerts/', ROOT))
const RULES = `${FOLDER}sluice.rules.yaml`
const file = policyFiles()

interface Alert {
  readonly alert: string
  readonly for: string
  readonly labels: { readonly severity: string }
  readonly annotations: Readonly<Record<'summary' | 'description' | 'runbook_url', string>>
}

function alertsOf(): readonly Alert[] {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: readonly { rules: readonly Alert[] }[] }
  return groups.flatMap(({ rules }) => rules)
}

const scrape = async (url: string): Promise<string> => (await fetch(`${url}/metrics`)).text()

/** Sends a request, and reads its whole answer, so that the connection can be used again. */
async function send(url: string, init: RequestInit): Promise<number> {
  const answer = await fetch(url, init)
  await answer.text()
  return answer.status
}

/**
 * Opens a connection, and waits for the answer on it. A service that is late accepts one connection at a time, so it would notice that a
 * client has left before it accepts the next one, and connections without a request would never be open together.
 */
function answered(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'))
    socket.on('error', () => {})
    for (const event of ['data', 'close']) socket.once(event, () => resolve(socket))
  })
}

/** Decides requests for a path, in lists of at most 1,000. */
async function decide(url: string, requests: number, path = '/', list = 1_000): Promise<void> {
  for (let left = requests; left > 0; left -= list) {
    const body = JSON.stringify(Array.from({ length: Math.min(left, list) }, () => ({ path })))
    expect(await send(`${url}/v1/checks`, { method: 'POST', body })).toBe(200)
  }
}

describe('O6: alert rules', () => {
  it('have a name, a time, a severity and texts, and a section of the runbook each', () => {
    const page = readFileSync(new URL('docs/operations.md', ROOT), 'utf8')
    const headings = [...page.matchAll(/^## (Sluice\w+)$/gm)].map(([, name]) => name)
    const alerts = alertsOf()
    expect(alerts.map(({ alert }) => alert)).toEqual(headings)
    for (const { alert, for: time, labels, annotations } of alerts) {
      expect(alert).toMatch(/^Sluice([A-Z][a-z]+)+$/)
      expect(time).toMatch(/^\d+m$/)
      expect(['critical', 'warning', 'info']).toContain(labels.severity)
      expect(annotations.summary).not.toContain('{{')
      expect(annotations.description).not.toBe('')
      const [path = '', anchor] = annotations.runbook_url.split('#')
      expect(existsSync(new URL(path, ROOT))).toBe(true)
      expect(anchor).toBe(alert.toLowerCase())
    }
  })

  it('read metrics of docs/metrics.md and docs/regions.md only', () => {
    const page = ['metrics', 'regions'].map((name) => readFileSync(new URL(`docs/${name}.md`, ROOT), 'utf8')).join('')
    const used = new Set(readFileSync(RULES, 'utf8').match(/\bsluice_\w+/g))
    const known = [...used].filter((name) => page.includes(`| \`${name.replace(/_(bucket|sum|count)$/, '')}\``))
    expect(known).toEqual([...used])
  })

  it.skipIf(promtool === '')('pass promtool check rules and promtool test rules, which fires each of them', () => {
    expect(runProgram(promtool, ['check', 'rules', RULES])).toMatch(/^0\n/)
    expect(runProgram(promtool, ['test', 'rules', 'sluice.test.yaml'], FOLDER)).toMatch(/^0\n/)
    const tests = readFileSync(`${FOLDER}sluice.test.yaml`, 'utf8')
    for (const { alert } of alertsOf()) expect(tests).toMatch(new RegExp(`alertname: ${alert}\\n\\s+exp_alerts:`))
  })
})

/** The alert about slow decisions depends on how busy the machine is. Only its own test looks at it. */
const NOT_SLOW = 'SluiceDecisionsSlow'
const OTHERS = alertsOf()
  .map(({ alert }) => alert)
  .filter((alert) => alert !== NOT_SLOW)
  .join('|')

function expectFiring(scrapes: readonly Scrape[], alerts: readonly string[], step?: number): void {
  expect(firing(promtool, RULES, scrapes, alerts, OTHERS, step)).toMatch(/^0\n/)
}

describe.skipIf(promtool === '')('O6: alerts fire on the metrics of a running service', () => {
  const TOKEN = 'a-token-of-some-length'
  const policy = (mode: string): string => `version: 1
rules:
  - { name: half, match: { path: /limited }, key: [], rate: 1/h, burst: 1000, mode: ${mode} }
`
  let service: Running
  const put = (body: string): Promise<number> =>
    send(`${service.url}/v1/policy`, { method: 'PUT', headers: { authorization: `Bearer ${TOKEN}` }, body })
  beforeAll(async () => {
    service = await serveBuilt([file(policy('enforce')), '--admin-token-file', file(`${TOKEN}\n`), '--max-connections', '64'])
  })
  afterAll(async () => void (await service.stop()))

  it('block rate: absent, healthy, high, and low against the day before', async () => {
    const fresh = await scrape(service.url)
    expectFiring(
      [
        { minute: 0, text: fresh },
        { minute: 40, text: fresh },
      ],
      ['SluiceBlockRateAbsent'],
    )
    await decide(service.url, 2_000)
    const healthy = await scrape(service.url)
    expectFiring(
      [
        { minute: 0, text: fresh },
        { minute: 20, text: healthy },
      ],
      [],
    )
    await decide(service.url, 9_000, '/limited')
    const flooded = await scrape(service.url)
    expectFiring(
      [
        { minute: 0, text: healthy },
        { minute: 20, text: flooded },
      ],
      ['SluiceBlockRateHigh'],
    )
    expect(await put(policy('shadow'))).toBe(200)
    await decide(service.url, 9_000, '/limited')
    const shadow = await scrape(service.url)
    const days = [
      { minute: 0, text: healthy },
      { minute: 120, text: flooded },
      { minute: 24 * 60, text: flooded },
      { minute: 26 * 60, text: shadow },
    ]
    expectFiring(days, ['SluiceBlockRateLow'], 5)
  })

  it('a policy that was refused', async () => {
    const before = await scrape(service.url)
    expect(await put('version: 2')).toBe(400)
    const after = await scrape(service.url)
    expectFiring(
      [
        { minute: 0, text: before },
        { minute: 1, text: after },
        { minute: 5, text: after },
      ],
      ['SluicePolicyRejected'],
    )
  })

  it('connections above the bound', async () => {
    const before = await scrape(service.url)
    const sockets = await Promise.all(Array.from({ length: 100 }, () => answered(service.url)))
    for (const socket of sockets) socket.destroy()
    await expect.poll(async () => (await fetch(`${service.url}/metrics`).catch(() => undefined))?.status).toBe(200)
    const after = await scrape(service.url)
    expectFiring(
      [
        { minute: 0, text: before },
        { minute: 10, text: after },
      ],
      ['SluiceConnectionsRefused'],
    )
  })

  it('a service that is gone', async () => {
    const last = await scrape(service.url)
    await service.stop()
    await expect(scrape(service.url)).rejects.toThrow('fetch failed')
    expectFiring(
      [
        { minute: 0, text: last },
        { minute: 15, text: '' },
      ],
      ['SluiceAbsent'],
    )
  })
})

describe.skipIf(promtool === '' || 'missing' in redis)('O6: alerts fire on the metrics of a service whose store fails', () => {
  let engine: Engine
  let service: Running
  const start = async (failure: string): Promise<void> => {
    const rule = '  - { name: all, key: [], rate: 1000000/s, burst: 1000000 }\n'
    service = await serve([file(`version: 1\nfailure: ${failure}\nrules:\n${rule}`), '--store', engine.url])
  }
  const value = (text: string, series: RegExp): number => Number(new RegExp(`^${series.source} (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
  beforeAll(async () => {
    engine = await startRedis('path' in redis ? redis.path : '')
  })
  afterAll(async () => {
    engine.signal('SIGCONT')
    await service.stop()
    await engine.stop()
  })

  it('slow decisions', async () => {
    await start('{ deadline: 20s, policy: deny }')
    await decide(service.url, 1)
    const before = await scrape(service.url)
    for (let round = 0; round < 15; round += 1) {
      engine.signal('SIGSTOP')
      const decided = decide(service.url, 100, '/', 100)
      await pause(60)
      engine.signal('SIGCONT')
      await decided
    }
    const after = await scrape(service.url)
    const scrapes = [
      { minute: 0, text: before },
      { minute: 20, text: after },
    ]
    expect(firing(promtool, RULES, scrapes, [NOT_SLOW], NOT_SLOW)).toMatch(/^0\n/)
    expectFiring(scrapes, [])
    await service.stop()
  })

  it('a lost store: degraded, errors, breaker, and a bound that the outage outlasts', async () => {
    await start('{ deadline: 100ms, policy: local, processes: 1, outage: 200ms }')
    await expect
      .poll(async () => {
        await decide(service.url, 1)
        return value(await scrape(service.url), /sluice_degraded\{rule="all"\}/)
      })
      .toBe(0)
    const before = await scrape(service.url)
    engine.signal('SIGSTOP')
    await expect
      .poll(async () => {
        await decide(service.url, 1)
        return value(await scrape(service.url), /sluice_breaker_state\{store="redis"\}/)
      })
      .toBe(2)
    await pause(300)
    for (let round = 0; round < 4; round += 1) await decide(service.url, 500)
    await expect.poll(async () => value(await scrape(service.url), /sluice_breaker_state\{store="redis"\}/)).toBe(2)
    const lost = await scrape(service.url)
    expectFiring(
      [
        { minute: 0, text: before },
        { minute: 20, text: lost },
      ],
      ['SluiceBreakerOpen', 'SluiceDegraded', 'SluiceOvergrantBoundExceeded', 'SluiceStoreErrors'],
    )
    engine.signal('SIGCONT')
    await expect
      .poll(async () => {
        await decide(service.url, 1)
        return value(await scrape(service.url), /sluice_degraded\{rule="all"\}/)
      })
      .toBe(0)
    // On a busy machine, a decision may miss the deadline of 100 ms. So this waits for a span in which the store decided all requests.
    const errors = (text: string): number =>
      [...text.matchAll(/^sluice_store_errors_total\{.*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0)
    let [back, later] = ['', await scrape(service.url)]
    await expect
      .poll(async () => {
        back = later
        await decide(service.url, 2_000)
        later = await scrape(service.url)
        return errors(later) - errors(back)
      })
      .toBe(0)
    expectFiring(
      [
        { minute: 0, text: back },
        { minute: 20, text: later },
      ],
      [],
    )
  })
})
