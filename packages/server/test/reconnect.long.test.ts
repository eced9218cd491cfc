import { findRedis, startRedis } from '@sluice/scripts/engines'
import { Redis } from 'ioredis'
import { expect, inject, it, onTestFinished, vi } from 'vitest'
import { serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const policyFile = policyFiles()
const redis = inject('engines').redis === undefined ? { missing: 'no engine' } : findRedis()

it.skipIf('missing' in redis)('a reset connection to Redis is made again at once', async () => {
  const engine = await startRedis('path' in redis ? redis.path : '')
  onTestFinished(engine.stop)
  const admin = new Redis(engine.url)
  onTestFinished(() => admin.disconnect())
  const clients = async (): Promise<number> => ((await admin.client('LIST')) as string).trim().split('\n').length
  const policy = policyFile('version: 1\nrules:\n  - { name: a, key: ["header:x-a"], rate: 1/h, burst: 2 }\n')
  const service = await serve([policy, '--store', engine.url])
  onTestFinished(async () => void (await service.stop()))
  // Makes every random pause before reconnecting the longest possible. So the first attempt must come without a random pause.
  vi.spyOn(Math, 'random').mockReturnValue(0.999)
  onTestFinished(() => void vi.restoreAllMocks())
  const pauses: number[] = []
  for (let round = 0; round < 5; round += 1) {
    expect(await clients()).toBe(2)
    const since = performance.now()
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    while ((await clients()) < 2);
    pauses.push(performance.now() - since)
    // Once the service is ready, the next reconnection counts as a first attempt again.
    await expect.poll(async () => (await fetch(`${service.url}/readyz`)).text()).toBe('{"status":"ready"}\n')
  }
  expect(Math.min(...pauses)).toBeLessThan(40)
})
