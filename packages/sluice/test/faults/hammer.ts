import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { tokenBucket } from '../../src/index.ts'
import { type Audit, audit, Reference, type TraceEntry } from '../../src/testing/index.ts'

export interface Hammering {
  readonly kind: 'redis' | 'postgres'
  readonly url: string
  /** Prefix of the keys, or the schema. */
  readonly space: string
  readonly ms: number
}

export interface Hammered {
  readonly audit: Audit
  readonly calls: number
  readonly admitted: number
  /** What the kernel alone admits when it is asked at the same instants: how late a process got to ask changes nothing in it. */
  readonly permitted: number
}

const RATE = 100
const BURST = 50
const PROCESSES = 4
const CALLERS = 4

/** Four processes with several callers each ask one key as fast as they can; their verdicts are merged and audited. */
export async function hammer({ kind, url, space, ms }: Hammering): Promise<Hammered> {
  const children = Array.from({ length: PROCESSES }, () =>
    fork(fileURLToPath(new URL('hammer.worker.mjs', import.meta.url)), {
      execArgv: [],
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    }),
  )
  try {
    const task = { kind, url, space, rate: `${RATE}/s`, burst: BURST, callers: CALLERS, ms }
    await Promise.all(children.map((child) => tell(child, task)))
    const verdicts = await Promise.all(children.map((child) => tell(child, { go: true })))
    return judge((verdicts as number[][]).flat())
  } finally {
    children.forEach((child) => child.kill('SIGKILL'))
  }
}

/** Sends a message and waits for the answer; a child that ends first is an error. */
async function tell(child: ChildProcess, message: object): Promise<unknown> {
  const gone = new AbortController()
  const ended = once(child, 'exit', { signal: gone.signal }).then(([code]) =>
    Promise.reject(new Error(`a worker ended with ${String(code)}`)),
  )
  const answered = once(child, 'message', { signal: gone.signal })
  child.send(message)
  try {
    return (await Promise.race([answered, ended]))[0]
  } finally {
    ended.catch(() => {})
    answered.catch(() => {})
    gone.abort()
  }
}

function judge(verdicts: readonly number[]): Hammered {
  const limit = tokenBucket({ rate: `${RATE}/s`, burst: BURST })
  const trace: TraceEntry[] = verdicts.map((at) => ({ at: Math.abs(at), cost: 1, allowed: at > 0 }))
  const reference = new Reference()
  const calls = [{ id: { scope: { text: 'hammer:' }, key: 'one' }, limit, cost: 1_000_000, phase: 0 }]
  const instants = trace.map(({ at }) => at).sort((one, other) => one - other)
  return {
    audit: audit(trace, limit),
    calls: trace.length,
    admitted: trace.filter((entry) => entry.allowed).length,
    permitted: instants.filter((at) => reference.decide({ calls }, at).allowed).length,
  }
}
