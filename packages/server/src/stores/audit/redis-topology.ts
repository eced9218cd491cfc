import type { Redis } from 'ioredis'
import type { StoreUrl } from 'sluice/policy'
import { allowed } from './refusals.ts'
import type { FindingList } from './report.ts'

export async function addCluster(list: FindingList, node: Redis, refused: Set<string>): Promise<void> {
  const reply = await allowed(node.call('cluster', 'info') as Promise<string>, 'cluster|info', refused)
  const fact = (name: string): string => new RegExp(`^${name}:(\\S+)`, 'm').exec(reply ?? '')?.[1] ?? ''
  const broken = reply !== undefined && fact('cluster_state') !== 'ok'
  const what = `cluster_state is ${fact('cluster_state')}, with ${fact('cluster_slots_ok')} of 16384 slots ok`
  list.add(broken, 'cluster', 'error', what, 'keys of the other slots cannot be decided', 'redis-cli --cluster check names the cause')
}

export async function addSentinels(list: FindingList, client: Redis, { hosts, primary = '' }: StoreUrl): Promise<void> {
  const { connectTimeout, sentinelTLS } = client.options
  const { Redis: Client } = await import('ioredis')
  const answers = await Promise.all(
    hosts.map(async ({ host, port }) => {
      const options = { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0, connectTimeout }
      const sentinel = new Client({ ...options, host, port, ...(sentinelTLS === undefined ? {} : { tls: sentinelTLS }) })
      sentinel.on('error', () => {})
      try {
        await sentinel.connect()
        return String(await sentinel.call('sentinel', 'ckquorum', primary))
      } catch (error) {
        return isReply(error) ? (error as Error).message : undefined
      } finally {
        sentinel.disconnect()
      }
    }),
  )
  const away = answers.filter((answer) => answer === undefined).length
  const fewer = 'with fewer sentinels a failover may find no majority, and a new process may find no primary'
  list.add(
    away > 0,
    'sentinel-away',
    'warning',
    `${away} of ${hosts.length} sentinels do not answer`,
    fewer,
    'start them, or correct the URL',
  )
  const noQuorum = answers.some((answer) => answer?.startsWith('NOQUORUM') === true)
  const alone = 'nobody replaces a primary that is lost'
  list.add(
    noQuorum,
    'sentinel-quorum',
    'error',
    'the sentinels have no quorum',
    alone,
    'start the missing sentinels; lower the quorum if it is too high',
  )
  const few = 'two sentinels cannot form a majority without each other'
  list.add(
    hosts.length < 3,
    'sentinel-few',
    'note',
    `the URL names ${hosts.length} of the sentinels`,
    few,
    'run three or more, and name them all',
  )
}

function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError'
}
