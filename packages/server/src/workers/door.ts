import type { Worker } from 'node:cluster'
import { createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { closePort, type ListenAt, openPort } from '../http/port.ts'
import type { Opened } from './messages.ts'

const MAX_WAIT_MS = 3_000
/** Milliseconds in which a client that got its response makes a new connection, if it makes one at once. */
const TURN_MS = 50
/** Connections that may wait for a worker, which happens while all workers restart. */
const MAX_WAITING = 1_024

/**
 * The port of all workers. The primary accepts connections and passes each to the worker that has been free for longest. The primary keeps
 * a connection until a worker takes it, so none is lost when the port is closed or a worker is late.
 */
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
    /** Opens the port at the first call; later calls have the same result. */
    open: () =>
      (opened ??= openPort(server, at).then(
        (port) => ({ port }),
        (error: Error) => ({ failed: error.message }),
      )),
    /** Closes the port; resolves when workers have taken every accepted connection, or after three seconds. */
    async close() {
      const turn = (): Promise<void> => pause(TURN_MS)
      await closePort(server, () => arrived, turn)
      await emptied()
    },
  }
}

export type Door = ReturnType<typeof createDoor>

/** Hands accepted connections to workers. */
function createHandover() {
  const free = new Set<Worker>()
  /** For each worker, the connection that was passed to it and that it has not taken yet. */
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
      // `keepOpen`: `taken` closes this process's copy of the connection. Without `keepOpen` Node.js would never close the copy if the
      // worker died before it acknowledged the message. If the channel is closed, another worker gets the connection.
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
    /** Passes a connection to the next free worker. Closes it if too many wait. */
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
    /**
     * Removes a worker that has ended, after everything that it sent has been received. A connection that was passed to it and not taken
     * goes to another worker: a worker reports `taken` before it reads from a connection.
     */
    remove(worker: Worker) {
      free.delete(worker)
      takeBack(worker)
    },
    /** Marks the connection that was passed to a worker as taken, and closes the primary's copy of it. */
    taken(worker: Worker) {
      const socket = passed.get(worker)
      if (socket === undefined) return
      passed.delete(worker)
      socket.destroy()
      free.add(worker)
      pass()
    },
    /** Resolves when workers have taken every connection, or after three seconds. */
    async emptied() {
      const taken = new Promise<void>((resolve) => (whenEmpty = resolve))
      if (!isEmpty()) await Promise.race([taken, pause(MAX_WAIT_MS, undefined, { ref: false })])
    },
  }
}
