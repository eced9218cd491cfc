import { inChild } from '../in-child.ts'
import type { Plot, Point } from '../result/plot.ts'
import type { Column, Row, Table } from '../result/table.ts'
import type { RedisOptions, RedisPart } from '../redis/redis-part.ts'
import { type Way, wayOf } from '../redis/ways.ts'
import type { HostsInput, HostsResult } from './hosts-run.ts'
import { openProxy, type ProxyReport } from './proxy.ts'
import { CLOCKS_LOAD, type HostsLoad, type Scenario, SCENARIOS } from './scenarios.ts'

/**
 * The Lua program of the article "Benchmarking Token Bucket Rate Limiters" by the client's time, with and without the correction
 * `math.max`; the same program by the server's time; and Sluice.
 */
const WAYS: readonly Way[] = ['lua-article', 'lua-last-time', 'lua-server-time', 'sluice', 'bare']

/** What each of the WAYS decided under one scenario. */
export interface Observed {
  readonly scenario: Scenario
  readonly results: readonly HostsResult[]
  readonly proxy: ProxyReport
}

const COLUMNS: readonly Column[] = [
  { key: 'total', title: 'decided' },
  { key: 'allowed', title: 'allowed' },
  { key: 'exact', title: 'an exact bucket' },
  { key: 'beyond', title: 'beyond the limit', decimals: 2 },
  { key: 'falseDenials', title: 'false denials', unit: '%' },
  { key: 'errors', title: 'errors' },
  { key: 'lag', title: 'proxy late, p99', unit: 'ms' },
]

const { hosts, perSecond, rate, burst } = CLOCKS_LOAD

/**
 * The open question of the article "Benchmarking Token Bucket Rate Limiters": is `math.max` sufficient if clocks differ, or should the
 * server's time be used?
 */
export const clocks: RedisPart = {
  name: 'clocks',
  title: `client time against server time: ${hosts} hosts, ${perSecond} requests a second, burst ${burst}, ${rate}/s`,
  async run(options) {
    const all: Observed[] = []
    for (const scenario of SCENARIOS) {
      if (options.depth === 'quick' && !scenario.quick) continue
      options.say(scenario.name)
      all.push(await observe(options, scenario, WAYS, CLOCKS_LOAD))
    }
    const figures = all.map(({ scenario, results }) => ({
      scenario,
      reasons: Object.fromEntries(results.map(({ name, reasons }) => [name, reasons])),
    }))
    return { tables: [clocksTable(all)], plots: clockPlots(all), figures }
  },
}

/** Runs all limiters at the same time in one child process. They share a proxy, which is another process. */
export async function observe(options: RedisOptions, scenario: Scenario, ways: readonly Way[], load: HostsLoad): Promise<Observed> {
  const { atEnd, seconds, server } = options
  const proxy = await openProxy(server.url, { delayMs: scenario.delayMs, atEnd })
  const input: HostsInput = { url: proxy.url, ways, seconds, scenario, load }
  const results = await inChild<HostsResult[]>('hosts', input, { atEnd, family: 'seed-003' })
  return { scenario, results, proxy: await proxy.close() }
}

export function clocksTable(all: readonly Observed[]): Table {
  return {
    name: 'clocks',
    title: 'decisions on the server’s clock',
    columns: COLUMNS,
    rows: all.flatMap(({ scenario, results, proxy }) => results.map((result) => rowOf(scenario, result, proxy))),
    rank: { column: 'beyond', best: 'least' },
    notes: [
      'With a skew of 100 ms, the hosts’ clocks are spread evenly over 100 ms around the server’s clock. With a drift of 20 ms/s, the fastest clock gains 20 ms in each second, and the slowest loses as much. Clocks that NTP corrects drift by less than 0.5 ms/s.',
      'The delay is the round trip that a proxy adds. Each direction takes a half of it, times a random factor from 0.5 to 1.5. The column `proxy late` says by how much the proxy forwarded later than that.',
      'The column `an exact bucket` is what an exact bucket would allow of the same requests, at the instants of their decisions. The column `beyond the limit` is the tokens above burst + rate * length in the worst interval.',
      'A denial is false if an exact bucket had a token at that instant. This bucket is charged with every request that passed. False denials are in percent of the decided requests.',
      'Errors are requests without an answer. The server may have charged each of them. So a later denial is false only if the exact bucket had one token more than there were errors before.',
      'All ways get the same requests at the same time. The hosts’ clocks also differ for Sluice. Its deadline is 1 s here, because its default of 50 ms is shorter than the longest delays.',
    ],
  }
}

function rowOf({ name: load }: Scenario, result: HostsResult, { lagP99Ms }: ProxyReport): Row {
  const { way, name, total, allowed, exactAllowed, errors, audit, overGrantPercent } = result
  return {
    name,
    load,
    kind: wayOf(way).kind as 'ours',
    cells: {
      total,
      allowed,
      exact: exactAllowed,
      beyond: audit.overGrant,
      falseDenials: falsePercent(result),
      errors,
      lag: lagP99Ms,
    },
    overGrant: overGrantPercent,
  }
}

function falsePercent({ total, falseDenials }: Pick<HostsResult, 'total' | 'falseDenials'>): number {
  return total === 0 ? 0 : (falseDenials / total) * 100
}

/** Over-grant and false denials over the skew of the clocks, and over the delay of the network. */
export function clockPlots(all: readonly Observed[]): Plot[] {
  const drawn = [
    ['skew', 'skew of the clocks (ms)', (one: Scenario) => one.skewMs, (one: Scenario) => one.delayMs === 0],
    ['delay', 'round trip of the network (ms)', (one: Scenario) => one.delayMs, (one: Scenario) => one.skewMs === 0],
  ] as const
  const figures = [
    ['over-grant', (result: HostsResult) => result.audit.overGrantPercent],
    ['false denials', falsePercent],
  ] as const
  return drawn.flatMap(([over, title, x, chosen]) =>
    figures.map(([figure, y]): Plot => {
      const shown = all.filter(({ scenario }) => chosen(scenario) && scenario.driftMsPerSecond === 0)
      return {
        name: `${figure.replace(' ', '-')}-over-${over}`,
        title: `${figure} over the ${over}`,
        x: { title },
        y: { title: '%' },
        series: WAYS.map((way) => ({
          name: wayOf(way).name,
          kind: wayOf(way).kind as 'ours',
          points: shown.flatMap(({ scenario, results }): Point[] =>
            results.filter((result) => result.way === way).map((result) => ({ x: x(scenario), y: y(result) })),
          ),
        })),
      }
    }),
  )
}
