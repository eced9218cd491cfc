import { fork } from 'node:child_process'
import { join } from 'node:path'
import { isTaken } from './embedded.ts'
import { ELSEWHERE, type Room } from './rooms.ts'
import { type Servers, startServers } from './servers.ts'
import type { Answer, Outcome, Progress, Request, WorkerOptions } from './worker.ts'

/** Runs tests against a changed source in another process that has its own servers. A process that does not answer is replaced. */
export interface Tester {
  /** The test files of the room that reach a source. */
  related(file: string): Promise<readonly string[]>
  /** False if the servers refuse a program that this text of the file gives. */
  takes(file: string, text: string): Promise<boolean>
  /** Runs tests. `timeout` if the process sent nothing for the milliseconds that `limitOf` allows. */
  run(request: Extract<Request, { do: 'run' }>, limitOf: LimitOf): Promise<Outcome | 'timeout'>
  stop(): Promise<void>
}

/** Milliseconds for which the process may send nothing after the test `begun` began; undefined: before the first test. */
export type LimitOf = (begun: string | undefined) => number

/** The compiled worker, even if this file runs as a source. */
const WORKER = join(import.meta.dirname, '..', '..', 'dist', 'mutate', 'worker.js')
/** The heap limit of the process in MiB. A mutant that fills the memory ends only its process. */
const MEMORY_MB = 1_024
/** The most milliseconds that starting may take on a busy machine. */
const START_MS = 60_000
/** Milliseconds between two checks whether a server is busy. After this many busy checks in a row, the test is stopped. */
const POLL_MS = 1_000
const BUSY_POLLS = 4

export function createTester(root: string, room: Room = ELSEWHERE): Tester {
  let worker: Worker | undefined
  let servers: Servers | undefined
  const stop = (): void => {
    worker?.stop()
    worker = undefined
  }
  process.once('exit', stop)
  const stopServers = async (): Promise<void> => {
    const old = servers
    servers = undefined
    await old?.stop()
  }
  const started = async (): Promise<Worker> => {
    if (worker !== undefined && !worker.hasEnded) return worker
    const { tests, without, engines } = room
    servers ??= engines.length === 0 ? undefined : await startServers(root, engines)
    worker = forkWorker(root, { tests, without, urls: servers?.urls ?? {} })
    const ready = await worker.answer(() => START_MS)
    if (ready === 'timeout' || 'failed' in ready) throw new Error('the tests cannot be started')
    return worker
  }
  const query = async (request: Request, limitOf: LimitOf): Promise<Answer | 'timeout'> => {
    const { send, answer } = await started()
    const answered = answer(limitOf)
    send(request)
    // If a script on Redis does not end, the test never ends either.
    const unwatch = servers !== undefined && room.engines.includes('redis') ? watchServers(servers, stop) : () => {}
    return answered.finally(unwatch)
  }
  /**
   * Empties the servers before the next test. Servers that are busy without end are replaced, with the process that knows their addresses.
   */
  const cleared = async (): Promise<void> => {
    if (servers === undefined || (await servers.clear())) return
    stop()
    await stopServers()
  }
  return {
    async related(file) {
      const answer = await query({ do: 'related', file }, () => START_MS)
      if (answer === 'timeout' || 'failed' in answer) throw new Error(`no tests can be found for ${file}`)
      return answer.tests
    },
    async takes(file, text) {
      await cleared()
      await started()
      return isTaken(file, text, servers)
    },
    async run(request, limitOf) {
      await cleared()
      const answer = await query(request, limitOf)
      if (answer === 'timeout' || 'failed' in answer) return answer
      throw new Error('the tests gave the answer of another request')
    },
    async stop() {
      process.off('exit', stop)
      stop()
      await stopServers()
    },
  }
}

/** A process that runs tests. */
interface Worker {
  readonly hasEnded: boolean
  send(request: Request): void
  /** The next answer, also if the process ends. `timeout` if it hangs or is stopped; then it has ended, too. */
  answer(limitOf: LimitOf): Promise<Answer | 'timeout'>
  stop(): void
}

function forkWorker(root: string, options: WorkerOptions): Worker {
  const child = fork(WORKER, [root, JSON.stringify(options)], {
    execArgv: [`--max-old-space-size=${MEMORY_MB}`],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, SLUICE_REDIS_URL: '', SLUICE_POSTGRES_URL: '' },
  })
  let hasEnded = false
  /** Ends the wait for an answer with `timeout`. */
  let giveUp: (() => void) | undefined
  const stop = (): void => {
    hasEnded = true
    child.removeAllListeners()
    child.kill('SIGKILL')
    giveUp?.()
  }
  return {
    get hasEnded() {
      return hasEnded
    },
    send: (request) => void child.send(request),
    answer: (limitOf) =>
      new Promise((resolve) => {
        const finish = (answer: Answer | 'timeout'): void => {
          clearTimeout(timer)
          giveUp = undefined
          child.removeAllListeners()
          resolve(answer)
        }
        giveUp = () => finish('timeout')
        let timer = setTimeout(stop, limitOf(undefined))
        child.on('message', (message: Answer | Progress) => {
          if (!('begins' in message)) return finish(message)
          clearTimeout(timer)
          timer = setTimeout(stop, limitOf(message.begins))
        })
        child.once('exit', (code) => {
          finish({ passed: 0, failed: [`the process ended with ${code}`], cases: [] })
          stop()
        })
      }),
    stop,
  }
}

/** Calls `stop` if a server stays busy. @returns ends the watch */
function watchServers(servers: Servers, stop: () => void): () => void {
  let polls = 0
  let over = false
  const poll = async (): Promise<void> => {
    polls = (await servers.busy()) ? polls + 1 : 0
    if (over) return
    if (polls >= BUSY_POLLS) stop()
    else timer = setTimeout(() => void poll(), POLL_MS)
  }
  let timer = setTimeout(() => void poll(), POLL_MS)
  return () => {
    over = true
    clearTimeout(timer)
  }
}
