import { type Engine, findRedis, freePort, startRedis } from '@sluice/scripts/engines'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { run, type Running, serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const redis = inject('engines').redis === undefined ? { missing: 'no engine' } : findRedis()
const file = policyFiles()
const KEY = 'a-key-of-regions-of-32-characters-or-more'
const TOKEN = 'a-token-of-some-length'

describe.skipIf('missing' in redis)('regions drain over Redis', () => {
  const engines: Engine[] = []
  beforeAll(async () => {
    const path = 'path' in redis ? redis.path : ''
    engines.push(await startRedis(path), await startRedis(path))
  })
  afterAll(async () => void (await Promise.all(engines.map((engine) => engine.stop()))))

  it('moves the weights, and the services that are started again keep them', { timeout: 120_000 }, async () => {
    const ports = [await freePort(), await freePort()] as const
    const peers = `eu=http://127.0.0.1:${ports[0]}, us=http://127.0.0.1:${ports[1]}`
    const rule = '{ name: all, key: [], rate: 1/h, burst: 100 }'
    const policy = file(`version: 1\nfailure: { deadline: 20s }\nregions: { peers: [${peers}] }\nrules: [${rule}]\n`)
    const args = [policy, '--region-key-file', file(KEY), '--admin-token-file', file(TOKEN)]
    const start = (index: 0 | 1): Promise<Running> =>
      serve([...args, '--region', index === 0 ? 'eu' : 'us', '--listen', `127.0.0.1:${ports[index]}`, '--store', engines[index]?.url ?? ''])
    const regions = (index: 0 | 1, ...words: readonly string[]) =>
      run(['regions', ...words, '--url', `http://127.0.0.1:${ports[index]}`, '--token-file', file(TOKEN)])
    const status = async (index: 0 | 1): Promise<unknown> => JSON.parse((await regions(index, 'status', '--json')).stdout)
    const isDrained = { phase: 'open', units: 0, weights: { eu: 1_000, us: 0 } }
    const services = [await start(0), await start(1)]
    for (const index of [0, 1] as const) await expect.poll(() => status(index), { timeout: 60_000 }).toMatchObject({ phase: 'open' })
    // While a region is late, the service refuses a change with 409. So the test tries again.
    let drain = await regions(0, 'drain', 'us')
    while (drain.stderr.includes('answered 409')) drain = await regions(0, 'drain', 'us')
    expect(drain.code).toBe(0)
    await expect.poll(() => status(1), { timeout: 60_000 }).toMatchObject(isDrained)
    for (const service of services) expect(await service.stop()).toBe(0)
    const again = [await start(0), await start(1)] as const
    await expect.poll(() => status(1), { timeout: 60_000 }).toMatchObject(isDrained)
    const body = JSON.stringify(Array.from({ length: 20 }, () => ({ path: '/' })))
    const answers = (await (await fetch(`${again[1].url}/v1/checks`, { method: 'POST', body })).json()) as { outcome: string }[]
    expect(answers.map(({ outcome }) => outcome)).toEqual(answers.map(() => 'denied'))
    for (const service of again) expect(await service.stop()).toBe(0)
  })
})
