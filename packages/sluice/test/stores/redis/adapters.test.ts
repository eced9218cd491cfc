import { createClient, createCluster } from 'redis'
import { createClient as createClient5, createCluster as createCluster5 } from 'redis-5'
import { Cluster, Redis } from 'ioredis'
import { Cluster as ValkeyCluster, Redis as Valkey } from 'iovalkey'
import { describe, expect, it } from 'vitest'
import { keySlot } from '../../../src/stores/redis/key-slot.ts'
import {
  ioredis,
  type IoredisLike,
  nodeRedis,
  type NodeRedisLike,
  type RedisPort,
  bareRedisStore,
  valkeyGlide,
} from '../../../src/stores/redis/index.ts'

/** Nothing of it is connected. */
const lazy = new Redis({ lazyConnect: true })
const lazyCluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true })
const node = createClient()

describe('adapters', () => {
  it.each<[string, () => RedisPort, true | undefined]>([
    ['ioredis', () => ioredis(lazy), undefined],
    ['ioredis Cluster', () => ioredis(lazyCluster), true],
    ['iovalkey', () => ioredis(new Valkey({ lazyConnect: true })), undefined],
    ['iovalkey Cluster', () => ioredis(new ValkeyCluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true })), true],
    ['node-redis', () => nodeRedis(node), undefined],
    ['node-redis cluster', () => nodeRedis(createCluster({ rootNodes: [] })), true],
    ['node-redis 5', () => nodeRedis(createClient5()), undefined],
    ['node-redis 5 cluster', () => nodeRedis(createCluster5({ rootNodes: [] })), true],
  ])('%s: knows a cluster by its methods', (_, open, cluster) => {
    expect(open().cluster).toBe(cluster)
    const { capabilities, laneOf } = bareRedisStore({ client: open() })
    expect(capabilities.atomicBatch).toBe(cluster ? 'same-slot' : 'any')
    // Not connected, a cluster does not know its nodes yet.
    expect(laneOf?.([{ scope: { text: 'l:l:tb:' }, key: 'user:42' }])).toBe(cluster && keySlot('{2Zn}'))
  })

  it.each<[string, () => unknown, string]>([
    [
      'redisStore of an ioredis client',
      () => bareRedisStore({ client: lazy as never }),
      'redisStore: client is a client as its library makes it',
    ],
    [
      'redisStore of a node-redis client',
      () => bareRedisStore({ client: node as never }),
      'redisStore: client is a client as its library makes it',
    ],
    [
      'redisStore of a glide client',
      () => bareRedisStore({ client: { customCommand: () => {} } as never }),
      'redisStore: client is a client as',
    ],
    ['redisStore of a URL', () => bareRedisStore({ client: 'redis://127.0.0.1' as never }), 'returns'],
    ['redisStore of nothing', () => bareRedisStore({ client: undefined as never }), 'returns'],
    [
      'ioredis of a node-redis client',
      () => ioredis(node as unknown as IoredisLike),
      'expected a client of ioredis or iovalkey, but it has no method callBuffer',
    ],
    ['ioredis of an adapted client', () => ioredis(ioredis(lazy) as unknown as IoredisLike), 'but it has no method callBuffer'],
    ['ioredis of nothing', () => ioredis(undefined as never), 'but it has no method callBuffer'],
    [
      'nodeRedis of an ioredis client',
      () => nodeRedis(lazy as unknown as NodeRedisLike),
      'expected a client of node-redis 5 or 6 (the package redis), but it has no method evalSha',
    ],
    [
      'valkeyGlide of an ioredis client',
      () => valkeyGlide(lazy as never),
      'expected a client of valkey-glide, but it has no method customCommand',
    ],
    ['valkeyGlide of null', () => valkeyGlide(null as never), 'but it has no method customCommand'],
  ])('%s is refused with what is expected', (_, make, message) => {
    expect(make).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining(message) }))
  })

  it.each([
    [
      'An error was signalled by the server: - NoScriptError: No matching script. Please use EVAL.',
      'NOSCRIPT No matching script. Please use EVAL.',
    ],
    ['An error was signalled by the server: - ReadOnly: You can’t write', 'READONLY You can’t write'],
    ['An error was signalled by the server: - BusyLoadingError: soon', 'LOADING soon'],
    ['An error was signalled by the server: - ResponseError: max number of clients reached', 'ERR max number of clients reached'],
    ['OOM: command not allowed', 'OOM command not allowed'],
    ['Received connection error `Connection reset by peer (os error 104)`. Will attempt to reconnect', undefined],
  ])('valkeyGlide says %s in the words of the server', async (said, expected) => {
    const error = new Error(said)
    const port = valkeyGlide({ customCommand: () => Promise.reject(error) })
    for (const failed of [port.evalsha('', [], []), port.eval('', [], [])]) {
      await expect(failed).rejects.toThrow(expected ?? said)
    }
  })

  it('hand on what Cluster and time-outs need, as text where the library wants text', async () => {
    const requested: unknown[] = []
    const commands = (timeout: unknown) => ({
      evalSha: async (...args: unknown[]) => requested.push([timeout, ...args]),
      eval: async (...args: unknown[]) => requested.push([timeout, ...args]),
    })
    const port = nodeRedis({ ...commands('5,000 ms'), withCommandOptions: ({ timeout }: { timeout: number }) => commands(timeout) })
    await port.evalsha('sha', ['k'], [1, 'x'])
    await port.eval('return 1', ['k'], [2.5])
    expect(requested).toEqual([
      [0, 'sha', { keys: ['k'], arguments: ['1', 'x'] }],
      [0, 'return 1', { keys: ['k'], arguments: ['2.5'] }],
    ])
  })

  it('ioredis: a connection is ended at its socket, of a Cluster at the node that holds the slot', async () => {
    const ended: string[] = []
    const made = (name: string, port: number) => ({
      options: { host: 'h', port },
      stream: { destroy: () => ended.push(name) },
      commandQueue: { toArray: () => [{ command: { promise: Promise.reject(new Error('ASKING')) } }] },
    })
    const one = ioredis({ callBuffer: async () => null, ...made('one', 1) } as IoredisLike).connections
    one?.replace(one.of('any') as object)
    const slots: string[][] = []
    slots[keySlot('a')] = ['h:2']
    const nodes = [made('first', 1), made('second', 2)]
    const cluster = { callBuffer: async () => null, nodes: () => nodes, slots } as IoredisLike
    const { connections: many, nodeOf } = ioredis(cluster)
    expect([nodeOf?.(keySlot('a')), nodeOf?.(keySlot('b'))]).toEqual(['h:2', undefined])
    expect(many?.of('a')).toBe(nodes[1])
    expect([many?.of('b'), many?.of(undefined)]).toEqual([undefined, undefined])
    many?.replace(many.of('a') as object)
    expect(ended).toEqual(['one', 'second'])
    // Nodes of the test that nobody ended.
    await nodes[0]?.commandQueue.toArray()[0]?.command.promise.catch(() => {})
  })

  it('node-redis: one that is ready is destroyed and made again, one that is being made is left alone', () => {
    const done: string[] = []
    const client = (name: string, isReady: boolean) => ({
      isReady,
      destroy: () => done.push(`${name} destroyed`),
      connect: async () => void done.push(`${name} connects`),
    })
    const commands = { evalSha: async () => null, eval: async () => null, withCommandOptions: () => commands }
    const held = [client('ready', true), client('new', false)].map((one) => nodeRedis({ ...commands, ...one } as NodeRedisLike).connections)
    for (const one of held) one?.replace(one.of('any') as object)
    expect(done).toEqual(['ready destroyed', 'ready connects'])

    const slots: object[] = []
    slots[keySlot('a')] = { master: { address: 'h:2', client: client('node', true) } }
    const { connections: cluster, nodeOf } = nodeRedis({ ...commands, slots, nodeClient: () => {} } as NodeRedisLike)
    expect([nodeOf?.(keySlot('a')), nodeOf?.(keySlot('b'))]).toEqual(['h:2', undefined])
    expect([cluster?.of('b'), cluster?.of(undefined)]).toEqual([undefined, undefined])
    cluster?.replace(cluster.of('a') as object)
    expect(done.slice(2)).toEqual(['node destroyed', 'node connects'])
  })

  it('node-redis: a client of Sentinel gets options with each command, and neither its connections nor its events are used', async () => {
    const requested: unknown[] = []
    const unused = { isOpen: true, isReady: false, on: () => {}, once: () => {}, off: () => {}, listenerCount: () => 0, destroy: () => {} }
    const commands = { evalSha: async () => null, eval: async () => null, withCommandOptions: () => commands, connect: async () => {} }
    const sendCommand = async (...args: unknown[]) => requested.push(args)
    const port = nodeRedis({ ...commands, ...unused, sendCommand, getSentinelNode: () => {} } as NodeRedisLike)
    await port.evalsha('sha', ['k'], [1, 'x'])
    await port.eval('return 1', [], [2.5])
    const options = { timeout: 0, typeMapping: { 36: Buffer } }
    expect(requested).toEqual([
      [false, ['EVALSHA', 'sha', '1', 'k', '1', 'x'], options],
      [false, ['EVAL', 'return 1', '0', '2.5'], options],
    ])
    expect([port.connections, port.opening, port.untilConnected]).toEqual([undefined, undefined, undefined])
  })
})
