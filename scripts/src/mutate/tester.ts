import { type ChildProcess, fork } from 'node:child_process'
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
/** The heap limit of the process. A mutant that fills the memory ends only its process. */
const MEMORY_MB = 1_024
/** The most milliseconds that starting may take on a busy machine. */
const START_MS = 60_000
/** Milliseconds between two checks whether a server is busy. After this many busy checks in a row, the test is stopped. */
const POLL_MS = 1_000
const BUSY_POLLS = 4

export function createTester(root: string, room: Room = ELSEWHERE): Tester {
  let child: ChildProcess | undefined
  let servers: Servers | undefined
  /** Ends the wait for an answer with `timeout`. */
  let giveUp: (() => void) | undefined

  const stop = (): void => {
    child?.removeAllListeners()
    child?.kill('SIGKILL')
    child = undefined
    giveUp?.()
  }
  process.once('exit', stop)
  const stopServers = async (): Promise<void> => {
    const old = servers
    servers = undefined
    await old?.stop()
  }

  /** The next answer of a process, also if it ends or hangs. */
  const nextAnswer = (from: ChildProcess, limitOf: LimitOf): Promise<Answer | 'timeout'> =>
    new Promise((resolve) => {
      const finish = (answer: Answer | 'timeout'): void => {
        clearTimeout(timer)
        giveUp = undefined
        from.removeAllListeners()
        resolve(answer)
      }
      giveUp = () => finish('timeout')
      let timer = setTimeout(stop, limitOf(undefined))
      from.on('message', (message: Answer | Progress) => {
        if (!('begins' in message)) return finish(message)
        clearTimeout(timer)
        timer = setTimeout(stop, limitOf(message.begins))
      })
      from.once('exit', (code) => {
        finish({ passed: 0, failed: [`the process ended with ${code}`], cases: [] })
        stop()
      })
    })
  const started = async (): Promise<ChildProcess> => {
    if (child !== undefined) return child
    const { tests, without, engines } = room
    servers ??= engines.length === 0 ? undefined : await startServers(root, engines)
    const options: WorkerOptions = { tests, without, urls: servers?.urls ?? {} }
    const made = fork(WORKER, [root, JSON.stringify(options)], {
      execArgv: [`--max-old-space-size=${MEMORY_MB}`],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, SLUICE_REDIS_URL: '', SLUICE_POSTGRES_URL: '' },
    })
    child = made
    const ready = await nextAnswer(made, () => START_MS)
    if (ready === 'timeout' || 'failed' in ready) throw new Error('the tests cannot be started')
    return made
  }
  const query = async (request: Request, limitOf: LimitOf): Promise<Answer | 'timeout'> => {
    const process = await started()
    const answer = nextAnswer(process, limitOf)
    process.send(request)
    const unwatch = watchServers()
    return answer.finally(unwatch)
  }
  /** Stops the test if a script on Redis does not end, because the test then never ends either. */
  const watchServers = (): (() => void) => {
    if (!room.engines.includes('redis')) return () => {}
    let polls = 0
    let over = false
    const poll = async (): Promise<void> => {
      polls = (await servers?.busy()) === true ? polls + 1 : 0
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
