import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { PartOptions } from './part.ts'

/** A process that takes orders one after the other. */
export interface OrderedProcess {
  /** What it said when it was ready. */
  readonly hello: unknown
  /** Rejects where the process has ended. */
  invoke(order: unknown): Promise<unknown>
  /** Ends it, whatever it does. */
  kill(): void
}

/**
 * Starts `program PLACE` (built, next to `from`) with `input` as its argument. It says hello over the channel, then answers each order with
 * one message. Rejects where it ends before.
 */
export async function startOrdered(
  program: string,
  from: string,
  input: object,
  { atEnd }: Pick<PartOptions, 'atEnd'>,
): Promise<OrderedProcess> {
  const file = fileURLToPath(new URL(program, from))
  const child = fork(file, [JSON.stringify(input)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  atEnd(async () => void child.kill())
  const answer = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const ended = (code: number | null): void => reject(new Error(`the process of ${JSON.stringify(input)} ended with ${String(code)}`))
      child.once('exit', ended)
      child.once('message', (message) => {
        child.off('exit', ended)
        resolve(message)
      })
    })
  return {
    hello: await answer(),
    invoke: (order) => {
      const answered = answer()
      child.send(order as object)
      return answered
    },
    kill: () => void child.kill(),
  }
}
