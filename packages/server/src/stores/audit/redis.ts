import type { Cluster, Redis } from 'ioredis'
import type { StoreUrl } from 'sluice/policy'
import { countKeys } from './redis-keys.ts'
import { addPermissions } from './redis-permissions.ts'
import { addCluster, addSentinels } from './redis-topology.ts'
import { allowed } from './refusals.ts'
import { addAccess, addClock, type Audited, type AuditRequest, type FindingList, findingList } from './report.ts'

/** Settings that the account may not read are absent. */
interface Node {
  readonly node: Redis
  readonly info: ReadonlyMap<string, string>
  readonly settings: ReadonlyMap<string, string>
}

const SETTINGS = ['maxmemory', 'maxmemory-policy', 'appendonly', 'appendfsync', 'save', 'min-replicas-to-write', 'timeout', 'maxclients']
/** The used share of `maxclients` or `maxmemory` above which the audit warns. */
const NEARLY = 0.8
const MANY_SCRIPTS = 500

export async function auditRedis(client: Redis | Cluster, place: StoreUrl, request: AuditRequest): Promise<Audited> {
  const list = findingList()
  const refused = new Set<string>()
  const nodes = await Promise.all(('nodes' in client ? client.nodes('master') : [client]).map((node) => readNode(node, refused)))
  const [first] = nodes
  if (first === undefined) throw new Error('the cluster has no primary')
  for (const one of nodes) addServer(list, one)
  await addTime(list, first.node, refused)
  if ('nodes' in client) await addCluster(list, first.node, refused)
  if (place.scheme === 'redis+sentinel' && !('nodes' in client)) await addSentinels(list, client, place)
  const encrypted = place.scheme === 'rediss' || place.parameters.get('tls') === 'true'
  addAccess(
    list,
    place.hosts.map(({ host }) => host),
    encrypted,
    place.password !== undefined,
  )
  await addPermissions(list, first.node, request.prefix, place.username ?? 'default')
  const found = await countKeys(
    nodes.map(({ node }) => node),
    request,
  )
  for (const command of found.refused) refused.add(command)
  const eternal = found.limits.reduce((sum, { withoutExpiry = 0 }) => sum + withoutExpiry, 0)
  list.add(
    eternal > 0,
    'no-expiry',
    'warning',
    `keys under the prefix that never expire: ${eternal}`,
    'every state of the store has an expiry; something else made these keys or removed it, and they stay for ever',
    'find out which program wrote under this prefix; delete them, or give the store another prefix',
  )
  list.add(
    refused.size > 0,
    'not-readable',
    'note',
    `the account may not call ${[...refused].sort().join(', ')}, so a part of this report is missing`,
    'a store needs none of these commands; only an audit does',
    `audit with an account that also has ${[...refused]
      .sort()
      .map((name) => `+${name}`)
      .join(' ')}`,
  )
  return { server: factsOf(nodes, place), findings: unique(list.all), limits: found.limits, looked: found.looked }
}

async function readNode(node: Redis, refused: Set<string>): Promise<Node> {
  const info = await allowed(node.info(), 'info', refused)
  const pairs = (info ?? '').split(/\r?\n/).map((line) => /^(\w+):(.*)$/.exec(line))
  const settings = await allowed(node.call('config', 'get', ...SETTINGS), 'config|get', refused)
  return {
    node,
    info: new Map(pairs.flatMap((pair) => (pair === null ? [] : [[pair[1] as string, (pair[2] as string).trim()]]))),
    settings: pairsOf(settings),
  }
}

/** The reply alternates names and values. */
function pairsOf(reply: unknown): Map<string, string> {
  const words = Array.isArray(reply) ? reply.map(String) : []
  return new Map(words.flatMap((name, index) => (index % 2 === 0 ? [[name, words[index + 1] ?? '']] : [])))
}

function addServer(list: FindingList, { info, settings }: Node): void {
  const number = (name: string): number => Number(info.get(name) ?? settings.get(name) ?? Number.NaN)
  const major = Number.parseInt(info.get('valkey_version') ?? info.get('redis_version') ?? '7', 10)
  list.add(
    major < 7,
    'version',
    'error',
    `Redis ${info.get('redis_version')} is too old`,
    'the programs need Redis 7 or Valkey',
    'update the server',
  )
  addMemory(list, info, settings, number)
  addDurability(list, info, settings, number)
  const replica = info.get('role') === 'slave'
  list.add(replica, 'replica', 'error', 'the server is a replica', 'it can decide nothing', 'name its primary, or its sentinels')
  list.add(info.get('loading') === '1', 'loading', 'error', 'the server is loading its data', 'it refuses calls until then', 'wait')
  const clients = number('connected_clients') / number('maxclients')
  const full = `${Math.round(clients * 100)} % of maxclients are connected`
  list.add(clients > NEARLY, 'connections', 'warning', full, 'above it new connections are refused', 'raise maxclients, or look for a leak')
  list.add(
    number('timeout') > 0,
    'idle-timeout',
    'note',
    `the server closes connections that are idle for ${number('timeout')} s (timeout)`,
    'the first call after a quiet time waits for a new connection',
    'set timeout to 0',
  )
  list.add(
    number('number_of_cached_scripts') > MANY_SCRIPTS,
    'scripts',
    'warning',
    `${number('number_of_cached_scripts')} scripts are cached`,
    'this store has seven; some program sends texts that change, and they fill the memory',
    'let that program pass values as arguments; SCRIPT FLUSH frees the memory',
  )
}

type Facts = ReadonlyMap<string, string>

function addMemory(list: FindingList, info: Facts, settings: Facts, number: (name: string) => number): void {
  const policy = info.get('maxmemory_policy') ?? settings.get('maxmemory-policy')
  const [limit, used] = [number('maxmemory'), number('used_memory')]
  const evicts = policy !== undefined && policy !== 'noeviction'
  const forgets = 'an evicted key has its whole limit again, so denied callers pass'
  const noeviction = 'set maxmemory-policy noeviction: a full server then refuses writes, which is a failure and not a pass'
  list.add(evicts && limit > 0, 'eviction', 'error', `maxmemory-policy is ${policy}`, forgets, noeviction)
  list.add(evicts && limit === 0, 'eviction', 'warning', `maxmemory-policy is ${policy}, without maxmemory so far`, forgets, noeviction)
  const evicted = number('evicted_keys')
  list.add(evicted > 0, 'evicted', 'error', `the server has evicted ${evicted} keys since its start`, forgets, noeviction)
  const unbounded = "a flood of new keys fills the machine's memory, and the system may end the server"
  list.add(limit === 0, 'no-maxmemory', 'warning', 'the server has no maxmemory', unbounded, "set maxmemory below the machine's memory")
  const part = used / limit
  const almost = `${Math.round(part * 100)} % of maxmemory are used`
  list.add(
    limit > 0 && part > NEARLY,
    'memory',
    'warning',
    almost,
    'a full server refuses calls (OOM)',
    'raise maxmemory, or look at limits below',
  )
}

function addDurability(list: FindingList, info: Facts, settings: Facts, number: (name: string) => number): void {
  const [appends, saves] = [settings.get('appendonly'), settings.get('save')]
  const nothing = appends === 'no' && saves === ''
  const forgets = 'after a restart every key has its whole limit again'
  list.add(
    nothing,
    'not-kept',
    'note',
    'nothing is kept on disk',
    forgets,
    'set appendonly yes (appendfsync everysec) if that matters to you',
  )
  list.add(
    appends === 'no' && saves !== undefined && saves !== '',
    'snapshots-only',
    'note',
    `only snapshots are kept (save ${saves})`,
    'after a crash, keys have what they used since the last snapshot again; and a fork can delay calls',
    'set appendonly yes (appendfsync everysec)',
  )
  list.add(
    appends === 'yes' && settings.get('appendfsync') === 'always',
    'fsync-always',
    'note',
    'appendfsync is always',
    'every batch waits for the disk',
    'set everysec, unless a second of charges may never be lost',
  )
  const failing = ['rdb_last_bgsave_status', 'aof_last_write_status', 'aof_last_bgrewrite_status'].filter(
    (name) => info.get(name) === 'err',
  )
  const refuses = 'the server refuses writes while it cannot save (stop-writes-on-bgsave-error, AOF)'
  list.add(
    failing.length > 0,
    'saving-fails',
    'error',
    `${failing.join(', ')}: err`,
    refuses,
    "see the server's log; often the disk is full",
  )
  const replicas = number('connected_slaves')
  const minimum = settings.get('min-replicas-to-write')
  list.add(
    replicas > 0 && minimum === '0',
    'min-replicas',
    'warning',
    `the server has ${replicas} replicas, and min-replicas-to-write is 0`,
    'a primary that is cut off goes on deciding next to the new one, and what it granted is lost: limits are exceeded',
    'set min-replicas-to-write 1 and min-replicas-max-lag 10, or less',
  )
  list.add(
    replicas === 0,
    'no-replica',
    'note',
    'the server has no replica',
    'while it is away, your failure policy decides',
    'add one, with Sentinel or a Cluster',
  )
}

async function addTime(list: FindingList, node: Redis, refused: Set<string>): Promise<void> {
  const before = Date.now()
  const reply = await allowed(node.time(), 'time', refused)
  const after = Date.now()
  const [seconds, micros] = (reply ?? []).map(Number)
  if (seconds !== undefined && micros !== undefined) addClock(list, seconds * 1_000 + micros / 1_000 - (before + after) / 2, after - before)
}

function factsOf(nodes: readonly Node[], { scheme }: StoreUrl): Record<string, string | number> {
  const [{ info, settings }] = nodes as [Node]
  const valkey = info.get('valkey_version')
  const names = [
    'uptime_in_seconds',
    'used_memory',
    'maxmemory',
    'maxmemory_policy',
    'connected_clients',
    'connected_slaves',
    'evicted_keys',
  ]
  const read = [...names.map((name) => [name, info.get(name)]), ...SETTINGS.slice(2).map((name) => [name, settings.get(name)])]
  return {
    kind: valkey === undefined ? 'redis' : 'valkey',
    version: valkey ?? info.get('redis_version') ?? 'unknown',
    topology: scheme === 'redis+cluster' ? 'cluster' : scheme === 'redis+sentinel' ? 'sentinel' : 'single',
    primaries: nodes.length,
    ...Object.fromEntries(read.flatMap(([name, value]) => (value === undefined ? [] : [[name, numberOr(value)]]))),
  }
}

function numberOr(value: string): string | number {
  return /^\d{1,15}$/.test(value) ? Number(value) : value
}

/** Primaries of a cluster often have the same findings. */
function unique<T>(findings: readonly T[]): T[] {
  return [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()]
}
