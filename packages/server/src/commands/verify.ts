import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { type AnyLimit, type Store, tokenBucket } from 'sluice'
import { argumentOf, failed, usage } from '../cli/failure.ts'
import { type Io, signalled } from '../cli/io.ts'
import { wholeNumber } from '../cli/parse-arguments.ts'
import { JSON_FLAG, print, type Verb } from '../cli/verb.ts'
import { openStore } from '../stores/open-store.ts'
import { findingsOf } from './verify/findings.ts'
import { hammer, STATE, type Tally, type Task } from './verify/hammer.ts'

/** Stores that live in one process: the callers of one process compete there. */
const IN_PROCESS = /^(?:memory|pglite):/

export const verifyVerb: Verb = {
  name: 'verify',
  words: [],
  does: 'the over-grant test of Benchmarking Token Bucket Rate Limiters against your own store: many callers, one key; leaves nothing behind',
  flags: {
    store: { value: 'URL', does: 'memory:, redis://..., postgres://..., pglite:DIR; needed' },
    processes: { value: 'N', does: 'default 4; stores that live in one process are called from one' },
    callers: { value: 'N', does: 'callers in each process, default 16' },
    seconds: { value: 'N', does: 'default 3' },
    rate: { value: 'RATE', does: 'default 10/s' },
    burst: { value: 'N', does: 'default 10' },
    json: JSON_FLAG,
  },
  examples: ['verify --store memory: --seconds 1', 'verify --store redis://127.0.0.1:6379 --processes 4 --callers 16'],
  async run(args, io) {
    const url = args.text('store')
    if (url === undefined) throw usage('verify: --store is missing: which store is to be tested?')
    const rate = args.text('rate') ?? '10/s'
    const burst = wholeNumber(args, 'burst', 10, 1, 1e9)
    const limit = argumentOf('verify', () => tokenBucket({ rate, burst }))
    const wanted = wholeNumber(args, 'processes', 4, 1, 64)
    const processes = IN_PROCESS.test(url) ? 1 : wanted
    const callers = wholeNumber(args, 'callers', 16, 1, 1_024)
    const ms = wholeNumber(args, 'seconds', 3, 1, 3_600) * 1_000
    const task: Task = { url, space: `sluice_verify_${randomBytes(8).toString('hex')}`, rate, burst, callers, ms }
    const { name, findings } = await tested(io, task, limit, processes)
    const ok = findings.worstOverGrant === 0 && findings.errors === 0
    const result = { store: name, rate, burst, processes, callers, ...findings, ok }
    print(io, args, result, () => textOf(result))
    if (findings.worstOverGrant > 0) throw failed(`verify: ${name} admitted more than the limit allows`)
    if (findings.errors > 0) throw failed(`verify: ${name} left ${findings.errors} calls without an answer`)
  },
}

/** Runs the test in a space of its own and always removes that space afterwards. */
async function tested(io: Io, task: Task, limit: AnyLimit, processes: number) {
  const { store, name, discard, close } = await openStore(task.url, { space: task.space })
  const interrupted = signalled(io, ['SIGINT', 'SIGTERM']).then((signal): never => {
    throw failed(`verify: stopped by ${signal}`)
  })
  try {
    const running = IN_PROCESS.test(task.url)
      ? hammer(store, limit, task.callers, task.ms).then((tally) => [tally])
      : inProcesses(processes, task)
    running.catch(() => {})
    return { name, findings: await findingsOf(await Promise.race([running, interrupted]), limit) }
  } finally {
    await forgetState(store)
    await discard?.()
    await close()
  }
}

async function forgetState(store: Store): Promise<void> {
  const [result] = await store.change([{ kind: 'reset', id: STATE }])
  if (result?.failure !== undefined) throw result.failure
}

/**
 * Runs several processes that call the same store for the same key at the same time.
 * @throws CommandFailure exit 1 if a process ends before it has reported its tally
 */
async function inProcesses(count: number, task: Task): Promise<readonly Tally[]> {
  const children = Array.from({ length: count }, () => fork(fileURLToPath(new URL('verify/process.js', import.meta.url)), { execArgv: [] }))
  try {
    await Promise.all(children.map((child) => exchange(child, task)))
    return (await Promise.all(children.map((child) => exchange(child, { go: true })))) as Tally[]
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
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
