import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { PartOptions } from './part.ts'

/** A process that takes orders one after the other. */
export interface OrderedProcess {
  /** The message that it sent when it was ready. */
  readonly hello: unknown
  /** Sends an order and resolves with its answer; rejects if the process has ended. */
  invoke(order: unknown): Promise<unknown>
  /** Ends the process at once. */
  kill(): void
}

/**
 * Starts the compiled `program` next to `from`, and sends it `input` (`orderedInput`). The program sends a first message over the channel
 * when it is ready, then answers each order with one message. Rejects if the program ends before it is ready.
 */
export async function startOrdered(
  program: string,
  from: string,
  input: object,
  { atEnd }: Pick<PartOptions, 'atEnd'>,
): Promise<OrderedProcess> {
  const file = fileURLToPath(new URL(program, from))
  const child = fork(file, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  atEnd(async () => void child.kill())
  const answer = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const ended = (code: number | null, signal: string | null): void =>
        reject(new Error(`${program} ended with ${String(signal ?? code)}`))
      child.once('exit', ended)
      child.once('message', (message) => {
        child.off('exit', ended)
        resolve(message)
      })
    })
  const hello = answer()
  // The input goes over the channel, because every user of the machine can read arguments, and a URL may have a password.
  child.send(input)
  return {
    hello: await hello,
    invoke: (order) => {
      const answered = answer()
      child.send(order as object)
      return answered
    },
    kill: () => void child.kill(),
  }
}
