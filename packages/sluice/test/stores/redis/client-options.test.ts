import { Cluster, Redis } from 'ioredis'
import { Cluster as ValkeyCluster, Redis as Valkey } from 'iovalkey'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { tokenBucket } from '../../../src/index.ts'
import { bareRedisStore, ioredis } from '../../../src/stores/redis/index.ts'
import type { RegionPort } from '../../../src/stores/region-port.ts'
import type { Call } from '../../../src/stores/store.ts'
import { idleLimit } from '../families/idle-window.ts'

const { redis: url = '' } = inject('engines')
const CLIENTS = [
  ['ioredis', (options: object) => new Redis(url, options)],
  ['iovalkey', (options: object) => new Valkey(url, options)],
] as const

describe.skipIf(url === '').each(CLIENTS)('options of %s', (name, connected) => {
  const opened = (options: object) => {
    const client = connected(options)
    onTestFinished(() => void client.quit())
    return bareRedisStore({ client: ioredis(client), prefix: `options-${process.pid}-${name}:` })
  }
  const call = (key: string, limit: AnyLimit): Call => {
    return { id: { scope: { text: `l:l:${limit.algorithm.tag}:` }, key }, limit, cost: 1_000_000, phase: 0 }
  }

  it('a store decides, and loads its programs, through pipelines that the client makes by itself', async () => {
    const store = opened({ enableAutoPipelining: true })
    await store.ready()
    const one = call('pipelined', tokenBucket({ rate: '1/day', burst: 10 }))
    const verdicts = await Promise.all([1, 2].map(() => store.decide([{ calls: [one] }])))
    expect(verdicts.map(([verdict]) => verdict?.calls?.[0]?.remaining)).toEqual([9, 8])
  })

  it('integers of replies may be texts', async () => {
    const store = opened({ stringNumbers: true })
    const [bucket, swapped] = [call('texts', tokenBucket({ rate: '1/day', burst: 10 })), call('texts', idleLimit(10, 60))]
    expect(await store.decide([{ calls: [bucket, swapped] }])).toMatchObject([{ calls: [{ remaining: 9 }, { remaining: 9 }] }])
    await store.change([{ kind: 'adjust', call: swapped, amount: 1_000_000 }])
    expect(await store.decide([{ calls: [swapped] }])).toMatchObject([{ calls: [{ remaining: 9 }] }])
    await store.change([{ kind: 'reset', id: bucket.id }])
    expect(await store.decide([{ calls: [bucket] }])).toMatchObject([{ calls: [{ remaining: 9 }] }])

    const regions = store.capabilities.regions as RegionPort
    const found = await regions.read(undefined, 0)
    expect(found.now).toBeTypeOf('number')
    const change = await regions.write(undefined, found, { record: { text: 'x' } }, 0)
    expect(change).toBeTypeOf('number')
    expect(await regions.changedSince(0, 10, 0)).toMatchObject({ cells: 0, cursor: change, all: true })
  })
})

describe.each([
  ['ioredis', Cluster],
  ['iovalkey', ValkeyCluster],
] as const)('options of a Cluster of %s', (_, Client) => {
  const adapted = (options: object) => () => ioredis(new Client([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true, ...options }))

  it('pipelines that the client makes by itself are refused', () => {
    const refused = expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining('enableAutoPipelining') as string })
    expect(adapted({ enableAutoPipelining: true })).toThrow(refused)
    expect(adapted({ enableAutoPipelining: true, autoPipeliningIgnoredCommands: ['evalsha'] })).toThrow(refused)
  })

  it('pipelines without programs are allowed', () => {
    expect(adapted({ enableAutoPipelining: false })().cluster).toBe(true)
    expect(adapted({ enableAutoPipelining: true, autoPipeliningIgnoredCommands: ['evalsha', 'eval'] })().cluster).toBe(true)
  })
})
