import { setTimeout as later } from 'node:timers/promises'
import type { TraceEntry } from 'sluice/testing'
import type { Running } from '../contestants/contestant.ts'
import { poissonArrivals } from '../open/arrivals.ts'
import { percentOf } from '../over-grant.ts'
import { randomOrder } from '../random-order.ts'
import { type Way, wayOf } from '../redis/ways.ts'
import { type Judged, judgeDecisions } from './oracle.ts'
import { aheadMs, type HostsLoad, type Scenario } from './scenarios.ts'

export interface HostsInput {
  /** The server, or a proxy before it. */
  readonly url: string
  readonly ways: readonly Way[]
  readonly seconds: number
  readonly scenario: Scenario
  readonly load: HostsLoad
}

/** The decisions of a way under a scenario. */
export interface HostsResult extends Judged {
  readonly way: Way
  readonly name: string
  readonly errors: number
  /** The number of errors by message. */
  readonly reasons: Readonly<Record<string, number>>
  /** Over-grant in percent. Only whole requests of it count if the limiter decides by the client's clock. */
  readonly overGrantPercent: number
  /** The clients' times (ms) of the first `MAX_SENT` requests, in the order in which the server decided them. */
  readonly sent: readonly number[]
}

/** Milliseconds, more than every delay, so that a late answer is a decision. The default of 50 ms is for a network without such delays. */
const DEADLINE_MS = 1_000
const MAX_SENT = 200
/** Requests of each host on another key before the run, so that the first ones that count are not slow. */
const WARM_UP = 20
const SEED = 7

/** All hosts of a way. */
interface Group {
  readonly way: Way
  readonly hosts: readonly Running[]
  /** Decisions of each host that belong to the warm-up. */
  readonly warm: readonly number[]
  readonly sent: { readonly at: number; readonly clientMs: number }[]
  /** When requests without an answer were made, in microseconds of this machine's clock, which is the server's in the bench. */
  readonly unanswered: number[]
  readonly reasons: Map<string, number>
}

/** Makes the same requests by every limiter at the same time, each limiter on a key of its own, and judges what each limiter decided. */
export async function runHosts({ url, ways, seconds, scenario, load }: HostsInput): Promise<HostsResult[]> {
  const { hosts: count, perSecond, rate, burst } = load
  const clocks = clocksOf(scenario, count)
  const groups: Group[] = []
  for (const way of ways) {
    const open = (clock: () => number): Promise<Running> =>
      wayOf(way).open(url, { tokens: rate, per: '1s', burst }, { callers: 1, note: 'all', clock, deadlineMs: DEADLINE_MS })
    const opened = await Promise.all(clocks.map(open))
    groups.push({ way, hosts: opened, warm: await Promise.all(opened.map(warmUp)), sent: [], unanswered: [], reasons: new Map() })
  }
  const arrivals = poissonArrivals(perSecond, seconds * 1_000, SEED)
  const hosts = randomOrder(arrivals.length, count, SEED)
  const running: Promise<void>[] = []
  const started = performance.now()
  for (const [index, at] of arrivals.entries()) {
    while (performance.now() - started < at) await later(1)
    const host = hosts[index] as number
    for (const group of groups) running.push(requested(group, host, clocks[host] as () => number))
  }
  await Promise.all(running)
  const results = groups.map((group) => resultOf(group, load))
  for (const { hosts: opened } of groups) await Promise.all(opened.map((host) => host.close([])))
  return results
}

/** Returns how many decisions the warm-up has noted. */
async function warmUp(host: Running): Promise<number> {
  for (let calls = 0; calls < WARM_UP; calls += 1) {
    try {
      host.passed(await host.invoke('clocks:warm-up', 0))
    } catch {
      // An error of the warm-up does not count.
    }
  }
  return host.admitted?.length ?? 0
}

/** The clock of each host, in whole milliseconds. */
function clocksOf(scenario: Scenario, hosts: number): (() => number)[] {
  const started = Date.now()
  return Array.from({ length: hosts }, (_, host) => () => {
    const now = Date.now()
    return Math.round(now + aheadMs(scenario, host, hosts, now - started))
  })
}

async function requested(group: Group, host: number, clock: () => number): Promise<void> {
  const running = group.hosts[host] as Running
  const [clientMs, made] = [clock(), Math.floor((performance.timeOrigin + performance.now()) * 1_000)]
  try {
    running.passed(await running.invoke(`clocks:${group.way}`, 0))
    const at = running.admitted?.at(-1)?.at
    if (at !== undefined) group.sent.push({ at, clientMs })
  } catch (error) {
    group.unanswered.push(made)
    const reason = error instanceof Error ? error.message : String(error)
    group.reasons.set(reason, (group.reasons.get(reason) ?? 0) + 1)
  }
}

function resultOf({ way, hosts, warm, sent, unanswered, reasons }: Group, load: HostsLoad): HostsResult {
  const contestant = wayOf(way)
  const decisions = hosts.flatMap(({ admitted = [] }, host): readonly TraceEntry[] => admitted.slice(warm[host]))
  const judged = judgeDecisions(decisions, load, unanswered)
  const ordered = sent.toSorted((a, b) => a.at - b.at).slice(0, MAX_SENT)
  return {
    way,
    name: contestant.name,
    errors: unanswered.length,
    reasons: Object.fromEntries(reasons),
    ...judged,
    overGrantPercent: percentOf(judged.audit, contestant),
    sent: ordered.map(({ clientMs }) => clientMs),
  }
}
