import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Workers {
  /** Sends a message to all workers, and waits for one answer from each. It rejects if a worker ends first. */
  post(message: object): Promise<unknown[]>
  stop(): void
}

/** Starts processes that run a script of this folder. The script imports the built package. */
export function startWorkers(script: string, count: number): Workers {
  const children = Array.from({ length: count }, () =>
    fork(fileURLToPath(new URL(script, import.meta.url)), {
      execArgv: [],
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    }),
  )
  return {
    post: (message) => Promise.all(children.map((child) => post(child, message))),
    stop: () => children.forEach((child) => child.kill('SIGKILL')),
  }
}

async function post(child: ChildProcess, message: object): Promise<unknown> {
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
