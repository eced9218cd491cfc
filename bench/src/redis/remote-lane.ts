import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { PartOptions } from '../part.ts'
import type { LaneInput, LanePlace } from './lane-input.ts'
import type { Order } from './lane-process.ts'
import type { Batch, LaneHandle } from './rounds.ts'

const PROGRAM = fileURLToPath(new URL('lane-process.js', import.meta.url))

export interface RemoteLane extends LaneHandle {
  close(): Promise<void>
}

/** Opens a lane in a process of its own; every call rejects where that has ended. */
export async function openLane(lane: LaneInput, place: LanePlace, { atEnd }: Pick<PartOptions, 'atEnd'>): Promise<RemoteLane> {
  const child = fork(PROGRAM, [JSON.stringify({ lane, place })], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  atEnd(async () => void child.kill())
  const answer = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const ended = (code: number | null): void => reject(new Error(`the process of ${JSON.stringify(lane)} ended with ${String(code)}`))
      child.once('exit', ended)
      child.once('message', (message) => {
        child.off('exit', ended)
        resolve(message)
      })
    })
  const ask = (order: Order): Promise<unknown> => {
    const answered = answer()
    child.send(order)
    return answered
  }
  const name = (await answer()) as string
  return {
    name,
    callers: lane.callers,
    warmUp: async () => void (await ask('warm-up')),
    batch: async () => (await ask('batch')) as Batch,
    close: async () => {
      await ask('close')
      child.kill()
    },
  }
}
