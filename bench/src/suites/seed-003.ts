import type { Contestant } from '../contestants/contestant.ts'
import { lua, luaArticle } from '../contestants/lua.ts'
import { multiCommand } from '../contestants/multi-command.ts'
import { sluice } from '../contestants/sluice.ts'
import { watch } from '../contestants/watch.ts'
import { measureOverGrant, type OverGrant } from '../over-grant.ts'
import { figure, percent, table } from '../report.ts'
import { openServer } from '../server.ts'
import { measureSpeed, type Speed } from '../speed.ts'
import { headOf, type Suite } from './suite.ts'

/** The article's three, in its order, its program once more as lean as it can be, and Sluice. */
export const CONTESTANTS: readonly Contestant[] = [luaArticle, multiCommand, watch, lua, sluice]

/** The article's over-grant test: burst 10, 10 a second, 64 callers on one key. */
export const GRANT = { callers: 64, rate: 10, burst: 10 } as const

const SECONDS = 3
const ROUNDS = 5
/** Nobody is refused: even a burst of a whole run stays below it. */
const SPEED = { callers: 64, rate: 1_000_000, burst: 10_000_000 } as const

/** What the article printed, by our contestants' names. */
const ARTICLE: ReadonlyMap<string, ArticleFigures> = new Map([
  [luaArticle.name, { total: 138_592, allowed: 40, errors: 0, overGrant: 0, nanoseconds: 20_658, calls: 1 }],
  [multiCommand.name, { total: 55_134, allowed: 123, errors: 42, overGrant: 207.5, nanoseconds: 54_528, calls: 3 }],
  [watch.name, { total: 2_907, allowed: 38, errors: 1_526, overGrant: -5, nanoseconds: 1_166_537, calls: 50.7 }],
])

const QUOTED = '  in the article'

interface ArticleFigures {
  readonly total: number
  readonly allowed: number
  readonly errors: number
  readonly overGrant: number
  readonly nanoseconds: number
  readonly calls: number
}

/** The comparison of the article "Benchmarking Token Bucket Rate Limiters", measured anew, with Sluice as one more contestant. */
export const seed003: Suite = {
  name: 'seed-003',
  summary: 'over-grant and speed of five token buckets in Redis (Benchmarking Token Bucket Rate Limiters); about 30 s',
  async run({ seconds = SECONDS, say, atEnd }) {
    const server = await openServer({ atEnd })
    const { url } = server
    const grants: OverGrant[] = []
    for (const contestant of CONTESTANTS) {
      say(`part 1 of 2, over-grant: ${contestant.name}, ${seconds} s`)
      grants.push(await measureOverGrant(contestant, { url, seconds, ...GRANT }))
    }
    const roundMs = (seconds / 4) * 1_000
    say(`part 2 of 2, speed: ${ROUNDS} rounds of ${CONTESTANTS.length} x ${figure(roundMs)} ms`)
    const speeds = await measureSpeed(CONTESTANTS, { url, rounds: ROUNDS, roundMs, ...SPEED })
    const { machine, origin } = server
    const whose = origin === 'private' ? 'a private server on this machine' : 'the server of SLUICE_REDIS_URL'
    const where = headOf(machine, `Redis ${machine.redis}, ${whose}`)
    return {
      where,
      documents: {},
      text: [head(where), grantText(grants, seconds), speedText(speeds, grants, roundMs)].join('\n\n'),
      results: { suite: 'seed-003', machine, server: origin, seconds, overGrant: grants, speed: speeds },
    }
  },
}

function head(where: string): string {
  return [
    'seed-003: Benchmarking Token Bucket Rate Limiters, measured anew',
    `machine: ${where}`,
    "The article's figures are quoted, not measured: another machine (Apple M3 Pro, 12 cores), Redis 7, Go 1.25. Compare rows, not machines.",
    "Callers live in this one process. Both Lua, multi-command and Sluice share one connection among them (the driver's pipelining); every",
    'WATCH caller has its own, because a WATCH belongs to its connection.',
  ].join('\n')
}

function grantText(grants: readonly OverGrant[], seconds: number): string {
  const { callers, rate, burst } = GRANT
  const heading = ['contestant', 'total', 'allowed', 'errors', 'at most', 'over-grant', `at most in ${seconds} s`, 'over-grant']
  const rows = grants.flatMap((row) => {
    const { contestant, total, allowed, errors, maximum, overGrantPercent, nominalMaximum, overNominalPercent } = row
    const nominal = [figure(nominalMaximum), percent(overNominalPercent)]
    const ours = [contestant, figure(total), figure(allowed), figure(errors), figure(maximum), percent(overGrantPercent), ...nominal]
    const article = ARTICLE.get(contestant)
    if (article === undefined) return [ours]
    const quoted = [figure(article.total), figure(article.allowed), figure(article.errors), '', '', '40', percent(article.overGrant)]
    return [ours, [QUOTED, ...quoted]]
  })
  return [
    `PART 1  over-grant: burst ${burst}, ${rate}/s, cost 1, ${callers} callers on one key, ${seconds} s each`,
    table(heading, rows),
    `at most: floor(burst + rate * time until the last answer), the honest bound; at most in ${seconds} s: ${burst} + ${rate} * ${seconds}, as the article reckons.`,
    'Below 0 %: the last token came after the last request, or was lost to an error. Errors are requests without a decision, not allowed.',
    ...grants.flatMap(auditLines),
    ...grants.flatMap(errorLines),
  ].join('\n')
}

function auditLines({ contestant, audit }: OverGrant): string[] {
  if (audit === undefined) return []
  const { overGrant, overGrantPercent, admitted, permitted, from, to } = audit
  const interval = `${figure(admitted)} admitted of ${figure(permitted, 6)} permitted within ${figure((to - from) / 1_000, 3)} ms`
  return [
    `${contestant}, audited over every interval of the server's clock (us): ${figure(overGrant, 6)} tokens over, ${percent(overGrantPercent)};`,
    `  the tightest interval: ${interval}. The others decide on the client's clock and report no time.`,
  ]
}

function errorLines({ contestant, reasons }: OverGrant): string[] {
  return Object.entries(reasons).map(([message, times]) => `${contestant}: ${figure(times)} x "${message}"`)
}

function speedText(speeds: readonly Speed[], grants: readonly OverGrant[], roundMs: number): string {
  const { callers, burst } = SPEED
  const heading = ['contestant', 'ns/op', 'x Lua', 'fastest', 'slowest', 'calls/req', 'commands/req', 'refused', 'errors', 'over-grant']
  const rows = speeds.flatMap(({ contestant, rounds, median, ratio, total, denied, errors, callsPerRequest, commandsPerRequest }) => {
    const grant = grants.find((row) => row.contestant === contestant)
    const ours = [
      contestant,
      figure(median),
      figure(ratio, 2),
      figure(Math.min(...rounds)),
      figure(Math.max(...rounds)),
      figure(callsPerRequest, 2),
      figure(commandsPerRequest, 2),
      figure(denied),
      percent((errors / total) * 100),
      grant === undefined ? '' : percent(grant.overGrantPercent),
    ]
    const article = ARTICLE.get(contestant)
    if (article === undefined) return [ours]
    const times = article.nanoseconds / (ARTICLE.get(luaArticle.name) as ArticleFigures).nanoseconds
    const trips = figure(article.calls, 1)
    return [ours, [QUOTED, figure(article.nanoseconds), figure(times, 2), '', '', trips, '', '', '', percent(article.overGrant)]]
  })
  return [
    `PART 2  speed: one hot key, ${callers} callers, burst ${figure(burst)} so that all are allowed, ${ROUNDS} rounds of ${figure(roundMs)} ms in turns`,
    table(heading, rows),
    'ns/op: time that passed per request, failed ones included: median, fastest and slowest round; x Lua: median of the ratios within a round.',
    'calls: trips to the server, as the article counts (MULTI to EXEC count as one); commands: all that were really sent.',
    'over-grant: from part 1, because speed alone says nothing.',
    `${luaArticle.name}: its contract, two reads, two writes and the wait in the answer; ${lua.name}: one read, one write, yes or no, the baseline of the other suites.`,
  ].join('\n')
}
