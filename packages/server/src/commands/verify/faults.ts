import { type AnyLimit, createLimiter, type Decision, type FailurePolicy, type Limiter } from 'sluice'
import { failed, usage } from '../../cli/failure.ts'
import type { Progress } from '../../cli/progress.ts'
import { openStore, prepareStore } from '../../stores/open-store.ts'
import type { OpenStore } from '../../stores/opening.ts'
import { surrounded } from '../../stores/ring.ts'
import { withoutPassword } from '../../stores/store-name.ts'
import { type FaultProxy, type Network, openFaultProxy } from './fault-proxy.ts'
import { findingsOf } from './findings.ts'
import type { Tally, Task } from './hammer.ts'

/** Milliseconds: the default deadline for a store on a server. */
const DEADLINE_MS = 50
const POLICIES = ['deny', 'allow', 'local'] as const satisfies readonly FailurePolicy[]
/** Milliseconds between the calls of one caller. */
const PAUSE_MS = 1
/** Milliseconds after a fault in which the store must decide again. */
const BACK_MS = 30_000
/** Milliseconds that removing the states may take. */
export const FORGET_MS = 5_000

const WORKS: Network = { passes: 'all', delayMs: 0 }
/** Tried in this order. Between two faults the network works until the store has decided again. */
const FAULTS: readonly { readonly fault: string; readonly network: Network }[] = [
  { fault: 'none', network: WORKS },
  { fault: 'answers 20 ms late', network: { passes: 'all', delayMs: 20 } },
  { fault: `answers ${4 * DEADLINE_MS} ms late`, network: { passes: 'all', delayMs: 4 * DEADLINE_MS } },
  { fault: 'no answers', network: { passes: 'nothing' } },
  { fault: 'no connections', network: { passes: 'no-connection' } },
]

export interface FaultFinding {
  readonly fault: string
  readonly policy: FailurePolicy
  readonly calls: number
  /** Calls that the failure policy did not decide. */
  readonly decided: number
  readonly passed: number
  /** Requests that the failure policy let pass. */
  readonly passedByPolicy: number
  /** burst + rate * time, rounded down. */
  readonly permitted: number
  /** Passed requests above `permitted`, in percent of it. */
  readonly overGrantPercent: number
  /** Milliseconds until an answer. */
  readonly p50: number
  readonly p99: number
  readonly longest: number
  /** Milliseconds from the fault's end until the store decided again. */
  readonly backAfterMs: number
}

/**
 * What the store admitted under `deny` from the first fault to the last, by its own clock. This shows a store that loses its states between
 * two faults, which the figures of the single faults do not.
 */
export type WholeRun = Pick<
  Awaited<ReturnType<typeof findingsOf>>,
  'seconds' | 'allowed' | 'theoreticalMax' | 'overGrantPercent' | 'worstOverGrant'
>

export interface FaultTest {
  readonly task: Task
  readonly limit: AnyLimit
  readonly progress: Progress
  readonly stop: AbortSignal
  /** Called if states could not be removed. */
  readonly warn: (line: string) => void
}

/** @throws the reason of `stop` when `stop` is aborted; CommandFailure exit 3 if the store is not exactly one server */
export async function tryFaults(test: FaultTest): Promise<{ findings: FaultFinding[]; wholeRun: WholeRun }> {
  const { url, space } = test.task
  const proxy = await openFaultProxy(targetOf(url))
  test.progress.clock('connecting')
  const opened = await openStore(behind(url, proxy.port), { space }).catch(async (error: unknown) => {
    await proxy.close()
    throw error
  })
  try {
    return await throughProxy(proxy, opened, test)
  } finally {
    await proxy.close()
    await removeStates(test)
  }
}

async function throughProxy(proxy: FaultProxy, opened: OpenStore, { task, limit, progress, stop }: FaultTest) {
  const { store } = surrounded(opened.store, task.url, { policy: 'deny', deadlineMs: DEADLINE_MS })
  const limiters = POLICIES.map((policy) => ({
    policy,
    limiter: createLimiter({ name: nameOf(policy), limit, store, onStoreFailure: policy, deadlineMs: DEADLINE_MS }),
    seen: { total: 0, allowed: [], first: Number.NaN, last: Number.NaN, errors: {} } as Seen,
  }))
  const findings: FaultFinding[] = []
  try {
    await Promise.all(limiters.map(({ limiter }) => limiter.ready()))
    for (const [index, { fault, network }] of FAULTS.entries()) {
      progress.clock(`${fault === 'none' ? 'no fault' : fault}, ${index + 1} of ${FAULTS.length}`)
      proxy.set(network)
      const faced = await Promise.all(limiters.map(({ limiter, seen }) => face(limiter, { task, limit, stop, seen })))
      proxy.set(WORKS)
      const healed = performance.now()
      const back = await Promise.all(limiters.map(({ limiter }) => decidedAgain(limiter, healed, stop)))
      for (const [at, { policy }] of limiters.entries())
        findings.push({ fault, policy, ...(faced[at] as Faced), backAfterMs: back[at] as number })
    }
    const underDeny = limiters.filter(({ policy }) => policy === 'deny').map(({ seen }) => seen)
    const { seconds, allowed, theoreticalMax, overGrantPercent, worstOverGrant } = await findingsOf(underDeny, limit)
    return { findings, wholeRun: { seconds, allowed, theoreticalMax, overGrantPercent, worstOverGrant } }
  } finally {
    proxy.set(WORKS)
    await Promise.all(limiters.map(({ limiter }) => limiter.close()))
    await store.close()
    await opened.close()
  }
}

/** Call after the proxy's connections are closed: a call that was given up could write the states again. */
async function removeStates({ task: { url, space }, limit, warn }: FaultTest): Promise<void> {
  try {
    const { opened, reach } = await prepareStore(url, { space, startMs: FORGET_MS })
    try {
      await reach()
      if (opened.discard !== undefined) return await opened.discard()
      const { store } = opened
      const limiters = POLICIES.map((policy) => createLimiter({ name: nameOf(policy), limit, store, deadlineMs: FORGET_MS }))
      await Promise.all(limiters.map((limiter) => limiter.reset(KEY)))
    } finally {
      await opened.close()
    }
  } catch (error) {
    warn(notRemoved({ url, space }, error))
  }
}

export function notRemoved({ url, space }: Pick<Task, 'url' | 'space'>, error: unknown): string {
  const why = error instanceof Error ? error.message : String(error)
  return `verify: the states ${space} could not be removed from ${withoutPassword(url)}: ${why}`
}

type Faced = Omit<FaultFinding, 'fault' | 'policy' | 'backAfterMs'>
/** The store's own decisions over the whole run. */
interface Seen extends Tally {
  total: number
  readonly allowed: number[]
  first: number
  last: number
}

const KEY = 'one'
const nameOf = (policy: FailurePolicy): string => `verify-${policy}`

async function face(
  limiter: Limiter,
  { task, limit, stop, seen }: Pick<FaultTest, 'task' | 'limit' | 'stop'> & { readonly seen: Seen },
): Promise<Faced> {
  const started = performance.now()
  const waits: number[] = []
  let [decided, passed, passedByPolicy] = [0, 0, 0]
  const note = ({ allowed, source, atMicros }: Decision): void => {
    if (source !== 'fallback') decided += 1
    if (allowed) passed += 1
    if (allowed && source === 'fallback') passedByPolicy += 1
    // Only these sources have the store's time. Leased tokens have the time of the call that leased them, plus the time since.
    if (source !== 'store' && source !== 'lease') return
    seen.total += 1
    if (!(atMicros > seen.first)) seen.first = atMicros
    if (!(atMicros <= seen.last)) seen.last = atMicros
    if (allowed) seen.allowed.push(atMicros)
  }
  const caller = async (): Promise<void> => {
    while (!stop.aborted && performance.now() - started < task.ms) {
      const before = performance.now()
      note(await limiter.check(KEY))
      waits.push(performance.now() - before)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
  await Promise.all(Array.from({ length: task.callers }, caller))
  stop.throwIfAborted()
  const permitted = permittedIn(limit, performance.now() - started)
  waits.sort((one, other) => one - other)
  const at = (share: number): number => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? Number.NaN
  return {
    calls: waits.length,
    decided,
    passed,
    passedByPolicy,
    permitted,
    overGrantPercent: Math.max(0, Math.round((passed / permitted - 1) * 10_000) / 100),
    p50: at(0.5),
    p99: at(0.99),
    longest: at(1),
  }
}

/**
 * Resolves with the milliseconds from `healed` until the store decides. Peeks charge nothing.
 * @throws CommandFailure if the store does not decide within BACK_MS
 */
async function decidedAgain(limiter: Limiter, healed: number, stop: AbortSignal): Promise<number> {
  while (performance.now() - healed < BACK_MS) {
    stop.throwIfAborted()
    if ((await limiter.peek(KEY)).source !== 'fallback') return performance.now() - healed
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  throw failed(`verify: the store did not decide within ${BACK_MS / 1_000} s after a fault`)
}

function permittedIn(limit: AnyLimit, ms: number): number {
  const { n, m, burst } = limit.algorithm.envelope(limit.plan)
  return Math.floor((burst + (n * ms * 1_000) / m) / 1e6)
}

/** TLS is refused, because the certificate would not be valid for the proxy's address. */
function targetOf(url: string): { readonly host: string; readonly port: number } {
  const name = withoutPassword(url)
  const { protocol, hostname, port, searchParams } = URL.canParse(url)
    ? new URL(url)
    : { protocol: '', hostname: '', port: '', searchParams: new URLSearchParams() }
  const usual = { 'redis:': 6_379, 'postgres:': 5_432, 'postgresql:': 5_432 }[protocol]
  const secure = ['tls', 'ssl', 'sslmode', 'sslrootcert'].some((key) => !['', 'false', 'disable'].includes(searchParams.get(key) ?? ''))
  if (usual === undefined || hostname === '' || hostname.includes('%2F') || secure || searchParams.has('host'))
    throw usage(
      `verify: --faults puts a proxy before one server without TLS: expected redis://HOST:PORT or postgres://HOST:PORT/DATABASE, not ${name}`,
    )
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? usual : Number(port) }
}

function behind(url: string, port: number): string {
  const [, scheme = '', user = '', rest = ''] = /^([a-z]+:\/\/)((?:[^/?#]*@)?)[^/?#]*(.*)$/s.exec(url) ?? []
  return `${scheme}${user}127.0.0.1:${port}${rest}`
}
