import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import type { Tally, Task } from './hammer.ts'

/**
 * Runs several processes that call the same store for the same key at the same time.
 * @throws CommandFailure exit 1 if a process ends before it has reported its tally
 */
export async function inProcesses(count: number, task: Task): Promise<readonly Tally[]> {
  const children = Array.from({ length: count }, () => fork(fileURLToPath(new URL('process.js', import.meta.url)), { execArgv: [] }))
  try {
    await Promise.all(children.map((child) => tell(child, task)))
    return (await Promise.all(children.map((child) => tell(child, { go: true })))) as Tally[]
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}

/** Sends a message and waits for the reply. */
async function tell(child: ChildProcess, message: object): Promise<unknown> {
  const over = new AbortController()
  const { signal } = over
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new CommandFailure(EXIT.failed, `verify: one of the processes ended with ${String(code)}`)
  })
  const answered = once(child, 'message', { signal }).then(([answer]) => answer as unknown)
  child.send(message)
  try {
    return await Promise.race([answered, ended])
  } finally {
    for (const promise of [answered, ended]) promise.catch(() => {})
    over.abort()
  }
}
