import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProxy } from '@sluice/scripts/engines'
import type { Quota } from '../contestants/contestant.ts'
import { MissingEngine } from '../engines.ts'
import { BITING, floodServer, grantOf } from '../http/audit.ts'
import { arrivalsFor, latenciesOf } from '../http/latency.ts'
import type { MeasuredServer } from '../http/server-process.ts'
import { type ServerLane, serverRounds } from '../http/server-rounds.ts'
import type { Part, PartOptions } from '../part.ts'
import { openPipeline } from '../pipeline.ts'
import { ALLOWED } from '../profiles.ts'
import { proxyTable, type ProxyRow } from './proxy-table.ts'
import { getting, keysOf, startService } from './service-process.ts'
import { nginxVersion, startNginx } from './nginx.ts'

const LOAD = { connections: 8, depth: 4 } as const
const ROUNDS = { warmUp: 3, least: 5 } as const
const MAX_REQUESTS = 2_000
/**
 * The two loads, with their limit and their clients. Under the limit that refuses there is one client, whose second token comes after a
 * minute.
 */
const LOADS = [
  { load: 'allowed', status: 200, quota: { tokens: ALLOWED.tokens, per: '1s', burst: ALLOWED.burst }, keys: keysOf(1_000) },
  { load: 'refused', status: 429, quota: { tokens: 1, per: '1m', burst: 1 }, keys: keysOf(1) },
] as const
type Load = (typeof LOADS)[number]

/** The ways to limit before a site. */
const WAYS = [
  { name: 'nginx, no limit', kind: 'floor' },
  { name: 'nginx with limit_req', kind: 'peer' },
  { name: 'nginx with auth_request to Sluice', kind: 'ours' },
  { name: 'Sluice, /v1/auth alone', kind: 'ours' },
] as const
type Way = (typeof WAYS)[number]

interface Opened {
  readonly way: Way
  readonly server: MeasuredServer
  /** The request as each limiter needs it, for one key. */
  readonly request: (key: string) => Buffer
}

/** Compares forward-auth with nginx’s own limit, which is native code in the proxy itself. */
export const proxies: Part = {
  name: 'proxies',
  title: 'nginx with its own limit, nginx that calls the service, and the service alone',
  async run(options) {
    const found = findProxy('nginx')
    if ('missing' in found) throw new MissingEngine(`no nginx to measure: ${found.missing}`)
    const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
    options.atEnd(async () => rmSync(folder, { recursive: true, force: true }))
    options.engines.note(`nginx ${nginxVersion(found.path)}`)
    const rows: ProxyRow[] = []
    const grants = await auditsOf(found.path, folder, options)
    for (const load of LOADS)
      rows.push(...(await loadOf(load, found.path, folder, options)).map((row, at) => ({ ...row, grant: grants[at] })))
    return { tables: [proxyTable(rows)] }
  },
}

/** Starts the servers that are compared under one limit. One of them is nginx without a limit. */
async function openWays(path: string, quota: Quota, folder: string, { atEnd }: Pick<PartOptions, 'atEnd'>): Promise<Opened[]> {
  const [bare, limit, auth, alone] = WAYS
  const [behind, direct] = [await startService(quota, { folder, atEnd }), await startService(quota, { folder, atEnd })]
  const site = (key: string): Buffer => getting('/item', key)
  const nginx = await startNginx(path, { kind: 'auth_request', port: behind.port }, { atEnd })
  return [
    { way: bare, server: await startNginx(path, { kind: 'bare' }, { atEnd }), request: site },
    { way: limit, server: await startNginx(path, { kind: 'limit_req', quota }, { atEnd }), request: site },
    { way: auth, server: together(nginx, behind), request: site },
    { way: alone, server: direct, request: (key) => getting('/v1/auth', key, FORWARDED) },
  ]
}

const FORWARDED = ['X-Forwarded-Method: GET', 'X-Forwarded-Uri: /item', 'X-Forwarded-Host: localhost', 'X-Forwarded-For: 198.51.100.7']

/** A proxy and the service behind it, as one server. */
function together(front: MeasuredServer, behind: MeasuredServer): MeasuredServer {
  return {
    port: front.port,
    cpuMicros: async () => (await front.cpuMicros()) + (await behind.cpuMicros()),
    async stop() {
      await front.stop()
      await behind.stop()
    },
  }
}

async function loadOf(load: Load, path: string, folder: string, options: PartOptions): Promise<Omit<ProxyRow, 'grant'>[]> {
  const requests = Math.min(MAX_REQUESTS, Math.max(200, Math.round(options.seconds * MAX_REQUESTS)))
  const opened = await openWays(path, load.quota, folder, options)
  const statusOf = ({ kind }: Way): number => (kind === 'floor' ? 200 : load.status)
  const bytes = opened.map(({ request }) => load.keys.map(request))
  const lanes: ServerLane[] = []
  for (const [index, { way, server }] of opened.entries()) {
    const pipeline = await openPipeline({ port: server.port, ...LOAD, requests: bytes[index] as Buffer[] })
    // Takes the first token of each key.
    await pipeline.round(load.keys.length)
    lanes.push({ name: way.name, server, pipeline, requests, status: statusOf(way) })
  }
  options.say(`${load.load}: ${requests} requests by turns to ${lanes.length} ways`)
  const began = performance.now()
  const timed = await serverRounds(lanes, { ...ROUNDS, seconds: options.seconds * 2 })
  const minutes = Math.ceil((performance.now() - began) / 60_000)
  const perSecond = arrivalsFor(timed)
  const latencies = await latenciesOf(
    lanes.map(({ server, status }, index) => ({ port: server.port, requests: bytes[index] as Buffer[], status, perSecond })),
    options.seconds,
  )
  for (const { pipeline, server } of lanes) {
    pipeline.close()
    await server.stop()
  }
  return opened.map(({ way }, index) => ({
    ...way,
    load: load.load,
    timed: timed[index] as (typeof timed)[number],
    first: timed[0] as (typeof timed)[number],
    latency: latencies[index] as (typeof latencies)[number],
    // The refused client gets one token a minute, so one of its requests may pass in each minute of the run.
    tolerated: load.load === 'refused' ? minutes : 0,
  }))
}

/** Floods each limiter under a limit that the flood exceeds, and returns its over-grant; undefined for nginx without a limit. */
async function auditsOf(path: string, folder: string, options: PartOptions): Promise<(number | undefined)[]> {
  const opened = await openWays(path, BITING, folder, options)
  const [key = ''] = keysOf(1)
  const counted = await Promise.all(
    opened.map(async ({ way, server, request }) => {
      const grant = way.kind === 'floor' ? undefined : await floodServer(server.port, request(key))
      return grant === undefined ? undefined : grantOf(grant, 'bucket').overGrantPercent
    }),
  )
  for (const { server } of opened) await server.stop()
  return counted
}
