import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type AnyLimit, type Store, tokenBucket } from 'sluice'
import { argumentOf, failed, stoppedBy, usage } from '../cli/failure.ts'
import { type Io, signalled, warningTo } from '../cli/io.ts'
import { wholeNumber } from '../cli/parse-arguments.ts'
import { JSON_FLAG, type ParsedArguments, print, type Verb } from '../cli/verb.ts'
import { type Progress, PROGRESS_FLAG, progressOf } from '../cli/progress.ts'
import { storeFlags, storeUrlOf } from '../cli/store-flags.ts'
import { prepareStore } from '../stores/open-store.ts'
import type { OpenStore } from '../stores/opening.ts'
import { withoutPassword } from '../stores/store-name.ts'
import { findingsOf } from './verify/findings.ts'
import { faultLines } from './verify/fault-text.ts'
import { FORGET_MS, notRemoved, tryFaults } from './verify/faults.ts'
import { hammer, STATE, type Tally, type Task } from './verify/hammer.ts'

const LOAD_PROCESS = fileURLToPath(new URL('verify/process.js', import.meta.url))
/** For stores in one process, all callers run in this process. */
const IN_PROCESS = /^(?:memory|pglite):/

export const verifyVerb: Verb = {
  name: 'verify',
  words: [],
  does: 'the over-grant test of Benchmarking Token Bucket Rate Limiters against your own store: many callers, one key; leaves nothing behind',
  flags: {
    ...storeFlags('memory:, redis://..., postgres://..., pglite:DIR; needed'),
    'processes N': 'default 4; stores that live in one process, and --faults, are called from one',
    'callers N': 'callers in each process, default 16',
    'seconds N': 'default 3; with --faults those of each fault, default 1',
    'rate RATE': 'default 10/s',
    'burst N': 'default 10',
    faults: 'puts a proxy before the store, and shows what each failure policy does while the store is slow, silent or away',
    progress: PROGRESS_FLAG,
    json: JSON_FLAG,
  },
  examples: [
    'verify --store memory: --seconds 1',
    'verify --store redis://127.0.0.1:6379 --processes 4 --callers 16',
    'verify --store redis://127.0.0.1:6379 --faults',
  ],
  async run(args, io) {
    const url = storeUrlOf('verify', args, io)
    if (url === undefined) throw usage('verify: --store is missing: which store is to be tested?')
    const rate = args.text('rate') ?? '10/s'
    const burst = wholeNumber(args, 'burst', 10, 1, 1e9)
    const limit = argumentOf(`verify: ${args.called('rate')} or ${args.called('burst')}`, () => tokenBucket({ rate, burst }))
    const wanted = wholeNumber(args, 'processes', 4, 1, 64)
    const processes = IN_PROCESS.test(url) ? 1 : wanted
    const callers = wholeNumber(args, 'callers', 16, 1, 1_024)
    const faults = args.switch('faults')
    if (faults && args.origin('processes') === 'flag') throw usage('verify: --processes: --faults calls from one process')
    const ms = wholeNumber(args, 'seconds', faults ? 1 : 3, 1, 3_600) * 1_000
    const task: Task = { url, space: `sluice_verify_${randomBytes(8).toString('hex')}`, rate, burst, callers, ms }
    const progress = progressOf('verify', args, io)
    if (faults) return verifyFaults({ args, io, task, limit, progress })
    const { name, findings } = await tested(io, task, limit, processes, progress).finally(progress.end)
    const ok = findings.worstOverGrant === 0 && findings.errors === 0
    const result = { store: name, rate, burst, processes, callers, ...findings, ok }
    print(io, args, result, () => textOf(result))
    if (findings.worstOverGrant > 0) throw failed(`verify: ${name} admitted more than the limit allows`)
    if (findings.errors > 0) throw failed(`verify: ${name} left ${findings.errors} calls without an answer`)
  },
}

interface FaultRun {
  readonly args: ParsedArguments
  readonly io: Io
  readonly task: Task
  readonly limit: AnyLimit
  readonly progress: Progress
}

/**
 * Only the failure policy `deny` can fail the test. Under `allow` and `local`, requests pass on purpose while the store cannot be reached.
 */
async function verifyFaults({ args, io, task, limit, progress }: FaultRun): Promise<void> {
  const stopping = new AbortController()
  void signalled(io, ['SIGINT', 'SIGTERM']).then((signal) => stopping.abort(stoppedBy('verify', signal)))
  const test = { task, limit, progress, stop: stopping.signal, warn: warningTo(io) }
  const { findings, wholeRun } = await tryFaults(test).finally(progress.end)
  const name = withoutPassword(task.url)
  const broken = findings.filter(
    ({ policy, passedByPolicy, overGrantPercent }) => policy === 'deny' && passedByPolicy + overGrantPercent > 0,
  )
  const { rate, burst, callers } = task
  const ok = broken.length === 0 && wholeRun.worstOverGrant === 0
  const result = { store: name, rate, burst, callers, faults: findings, wholeRun, ok }
  print(io, args, result, () => faultLines({ ...task, name }, findings, wholeRun))
  if (!ok) throw failed(`verify: ${name}: more passed under deny than the limit allows`)
}

/** Removes the states and tables of the test in any case. If that fails, a warning says so, and the findings are not lost. */
async function tested(io: Io, task: Task, limit: AnyLimit, processes: number, progress: Progress) {
  progress.clock('connecting')
  const interrupted = signalled(io, ['SIGINT', 'SIGTERM']).then((signal): never => {
    throw stoppedBy('verify', signal)
  })
  const { store, name, discard, close } = await connected(task, interrupted)
  progress.clock('starting')
  try {
    const alone = IN_PROCESS.test(task.url)
    if (alone) progress.clock(callingFor(task))
    const running = alone ? hammer(store, task).then((tally) => [tally]) : inProcesses(processes, task, progress, interrupted)
    running.catch(() => {})
    // Other processes must end first: they would write the removed state again.
    const tallies = await (alone ? Promise.race([running, interrupted]) : running)
    return { name, findings: await findingsOf(tallies, limit) }
  } finally {
    await (discard?.() ?? forgetState(store)).catch((error: unknown) => warningTo(io)(notRemoved(task, error)))
    await close()
  }
}

async function connected({ url, space }: Task, interrupted: Promise<never>): Promise<OpenStore> {
  interrupted.catch(() => {})
  const { opened, reach, failureOf } = await prepareStore(url, { space })
  try {
    await Promise.race([reach(), interrupted])
    return opened
  } catch (error) {
    // The error to report is why the store could not be opened.
    await opened.discard?.().catch(() => {})
    await opened.close()
    throw failureOf(error)
  }
}

function callingFor({ ms }: Task): string {
  return `calling the store for ${ms / 1_000} s`
}

async function forgetState(store: Store): Promise<void> {
  const [result] = await store.change([{ kind: 'reset', id: STATE }], { deadline: performance.now() + FORGET_MS })
  if (result?.failure !== undefined) throw result.failure
}

/**
 * Resolves once the processes have ended.
 * @throws CommandFailure exit 1 if a process ends before it has reported its tally
 */
async function inProcesses(count: number, task: Task, progress: Progress, interrupted: Promise<never>): Promise<readonly Tally[]> {
  const children = Array.from({ length: count }, () => fork(LOAD_PROCESS, { execArgv: [] }))
  const answers = (message: object) => Promise.race([Promise.all(children.map((child) => exchange(child, message))), interrupted])
  try {
    await answers(task)
    progress.clock(callingFor(task))
    return (await answers({ go: true })) as Tally[]
  } finally {
    await Promise.all(children.map(ended))
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

function exchange(child: ChildProcess, message: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', (code) => reject(failed(`verify: one of the processes ended with ${String(code)}`)))
    child.send(message)
  })
}

type Result = Awaited<ReturnType<typeof findingsOf>> & Pick<Task, 'rate' | 'burst' | 'callers'> & { store: string; processes: number }

function textOf(result: Result): string[] {
  const { store, rate, burst, processes, callers, seconds, errors, errorKinds } = result
  const kinds = Object.entries(errorKinds).map(([kind, count]) => `${count} ${kind}`)
  return [
    `${store}: one token bucket of ${rate}, burst ${burst}, called by ${processes} x ${callers} callers for ${seconds.toFixed(3)} s of the store's time`,
    `  total            ${result.total}`,
    `  allowed          ${result.allowed}`,
    `  theoretical max  ${result.theoreticalMax}`,
    `  over-grant       ${result.overGrantPercent.toFixed(2)} %`,
    `  worst interval   ${result.worstOverGrant} above burst + rate * t`,
    `  errors           ${errors}${kinds.length === 0 ? '' : ` (${kinds.join(', ')})`}`,
  ]
}
