import { describe, expect, inject, it } from 'vitest'
import { type Running, serve, serveBuilt } from './command.ts'
import { policyFiles } from './policy-file.ts'

const redis = inject('engines').redis
const policyFile = policyFiles()

const ROUNDS = 4
const PATHS = ['/api/search', '/api/data', '/elsewhere']
const EACH = 15
const REQUESTS = ROUNDS * PATHS.length * EACH

/**
 * Floods the demo. Each request uses a new connection, so that every worker gets some. Returns how many requests were answered with 429,
 * and how many were refused in all: if Redis stands still for a second, its clients give up their connections, and the calls on them get 503.
 */
async function flood(url: string): Promise<{ denied: number; refused: number }> {
  let [denied, refused] = [0, 0]
  for (let round = 0; round < ROUNDS; round += 1) {
    const paths = Array.from({ length: EACH }, () => PATHS).flat()
    const statuses = await Promise.all(paths.map(async (path) => (await fetch(url + path, { headers: { connection: 'close' } })).status))
    denied += statuses.filter((status) => status === 429).length
    refused += statuses.filter((status) => status === 429 || status === 503).length
  }
  return { denied, refused }
}

/** The sum over the series of a metric whose labels match. */
async function sumOf(url: string, name: string, labels = /./): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return [...text.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\d+)$`, 'gm'))].reduce(
    (sum, [, at = '', value]) => sum + (labels.test(at) ? Number(value) : 0),
    0,
  )
}

/**
 * Expects that the metrics count exactly what the client of a flood counted. Then the block rate is exact too. A scrape has previous
 * counters of a worker that answers late, so scrapes are repeated. No counter decreases, so one that is too high stays so.
 */
async function expectTrueRate({ url }: Pick<Running, 'url'>): Promise<void> {
  const { denied, refused } = await flood(url)
  expect(refused).toBeGreaterThan(REQUESTS / 10)
  expect(refused).toBeLessThan(REQUESTS)
  await expect.poll(() => sumOf(url, 'sluice_decisions_total')).toBe(REQUESTS)
  await expect.poll(() => sumOf(url, 'sluice_decisions_total', /outcome="denied"/)).toBe(denied)
  await expect.poll(() => sumOf(url, 'sluice_requests_blocked_total')).toBe(refused)
  await expect.poll(() => sumOf(url, 'sluice_decisions_total', /route="\/api\/search"/)).toBe(ROUNDS * EACH)
}

describe('O1: the block rate of a flood over HTTP is that of the metrics', () => {
  it('of the demo', async () => {
    const service = await serve(['--demo'])
    await expectTrueRate(service)
    expect(await service.stop()).toBe(0)
  })

  it.skipIf(redis === undefined)('of the demo with --workers 2', async () => {
    // The rules have names of their own, because other tests use the same Redis. The deadline is long, because a busy machine must not
    // cause decisions without the store.
    const policy = `version: 1
failure: { deadline: 20s, policy: deny }
rules:
  - { name: all-${process.pid}, key: [ip:address], rate: 1/h, burst: 90 }
  - { name: search-${process.pid}, match: { path: /api/search }, key: [ip:address], rate: 1/h, burst: 60, cost: 5 }
  - { name: data-${process.pid}, match: { path: /api/data }, key: [ip:address], rate: 1/h, burst: 1000 }
`
    const service = await serveBuilt(['--demo', policyFile(policy), '--workers', '2', '--store', redis as string])
    await expectTrueRate(service)
    // One key is new in each of three rules. This must be counted although the store does not report which states it made.
    await expect.poll(() => sumOf(service.url, 'sluice_new_keys_total')).toBe(3)
    expect(await service.stop()).toBe(0)
  })
})
