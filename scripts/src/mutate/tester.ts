import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Answer, Outcome, Request } from './worker.ts'

/** Runs tests against a changed source in another process, which is replaced when it does not answer. */
export interface Tester {
  /** The test files that reach a source. */
  related(file: string): Promise<readonly string[]>
  /** `timeout` where there was no answer within `limitMs`. */
  run(request: Extract<Request, { do: 'run' }>, limitMs: number): Promise<Outcome | 'timeout'>
  stop(): void
}

/** What was built, also where this file is run as a source. */
const WORKER = join(import.meta.dirname, '..', '..', 'dist', 'mutate', 'worker.js')
/** A mutant that fills the memory is stopped by its own process. */
const MEMORY_MB = 1_024
/** As long as starting may take on a busy machine. */
const START_MS = 60_000

export function createTester(root: string): Tester {
  let child: ChildProcess | undefined

  const stop = (): void => {
    child?.removeAllListeners()
    child?.kill('SIGKILL')
    child = undefined
  }
  process.once('exit', stop)

  /** One answer, whatever comes of the process. */
  const heard = (from: ChildProcess, limitMs: number): Promise<Answer | 'timeout'> =>
    new Promise((resolve) => {
      const finish = (answer: Answer | 'timeout', gone: boolean): void => {
        clearTimeout(timer)
        from.removeAllListeners()
        if (gone) stop()
        resolve(answer)
      }
      const timer = setTimeout(() => finish('timeout', true), limitMs)
      from.once('message', (answer: Answer) => finish(answer, false))
      from.once('exit', (code) => finish({ passed: 0, failed: [`the process ended with ${code}`] }, true))
    })
  const started = async (): Promise<ChildProcess> => {
    if (child !== undefined) return child
    const made = fork(WORKER, [root], {
      execArgv: [`--max-old-space-size=${MEMORY_MB}`],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, SLUICE_REDIS_URL: '', SLUICE_POSTGRES_URL: '' },
    })
    child = made
    const ready = await heard(made, START_MS)
    if (ready === 'timeout' || 'failed' in ready) throw new Error('the tests cannot be started')
    return made
  }
  const ask = async (request: Request, limitMs: number): Promise<Answer | 'timeout'> => {
    const process = await started()
    const answer = heard(process, limitMs)
    process.send(request)
    return answer
  }
  return {
    async related(file) {
      const answer = await ask({ do: 'related', file }, START_MS)
      if (answer === 'timeout' || 'failed' in answer) throw new Error(`no tests can be found for ${file}`)
      return answer.tests
    },
    async run(request, limitMs) {
      const answer = await ask(request, limitMs)
      if (answer === 'timeout' || 'failed' in answer) return answer
      throw new Error('the tests gave the answer of another question')
    },
    stop() {
      process.off('exit', stop)
      stop()
    },
  }
}
