import type { Worker } from 'node:cluster'
import { createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { closePort, type ListenAt, openPort } from '../http/port.ts'
import type { Opened } from './messages.ts'

const MAX_WAIT_MS = 3_000
/** Milliseconds that a client needs to open its next connection after a response. */
const TURN_MS = 50
/** Connections may wait while all workers restart. */
const MAX_WAITING = 1_024

/** A connection stays with the primary until a worker takes it, so none is lost when the port closes or a worker is late. */
export function createDoor(at: ListenAt) {
  const { offer, emptied, ...workers } = createHandover()
  let arrived = 0
  let opened: Promise<Opened> | undefined
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
    arrived += 1
    offer(socket)
  })
  return {
    ...workers,
    /** Later calls have the same result. */
    open: () =>
      (opened ??= openPort(server, at).then(
        (port) => ({ port }),
        (error: Error) => ({ failed: error.message }),
      )),
    /** Resolves when workers have taken every accepted connection, or after three seconds. */
    async close() {
      const turn = (): Promise<void> => pause(TURN_MS)
      await closePort(server, () => arrived, turn)
      await emptied()
    },
  }
}

export type Door = ReturnType<typeof createDoor>

function createHandover() {
  const free = new Set<Worker>()
  /** By worker, the connection that was passed and not yet taken. */
  const passed = new Map<Worker, Socket>()
  const waiting: Socket[] = []
  let whenEmpty = (): void => {}
  const isEmpty = (): boolean => waiting.length === 0 && passed.size === 0
  const pass = (): void => {
    for (const worker of free) {
      const socket = waiting.shift()
      if (socket === undefined) break
      free.delete(worker)
      passed.set(worker, socket)
      // `taken` closes this process's copy. Without `keepOpen`, Node.js would never close the copy if the worker died before it
      // acknowledged the message. If the channel is closed, another worker gets the connection.
      worker.send({ kind: 'connection' }, socket, { keepOpen: true }, (error) => (error === null ? undefined : takeBack(worker)))
    }
    if (isEmpty()) whenEmpty()
  }
  const takeBack = (worker: Worker): void => {
    const socket = passed.get(worker)
    if (socket === undefined) return
    passed.delete(worker)
    waiting.unshift(socket)
    pass()
  }
  return {
    /** Closes the connection if too many wait. */
    offer(socket: Socket) {
      if (waiting.length >= MAX_WAITING) return void socket.destroy()
      socket.on('error', () => {})
      waiting.push(socket)
      pass()
    },
    add(worker: Worker) {
      free.add(worker)
      pass()
    },
    /** A worker reports `taken` before it reads, so another worker can get a connection that was not taken. */
    remove(worker: Worker) {
      free.delete(worker)
      takeBack(worker)
    },
    taken(worker: Worker) {
      const socket = passed.get(worker)
      if (socket === undefined) return
      passed.delete(worker)
      socket.destroy()
      free.add(worker)
      pass()
    },
    /** Waits at most three seconds. */
    async emptied() {
      const taken = new Promise<void>((resolve) => (whenEmpty = resolve))
      if (!isEmpty()) await Promise.race([taken, pause(MAX_WAIT_MS, undefined, { ref: false })])
    },
  }
}
