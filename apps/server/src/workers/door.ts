import type { Worker } from 'node:cluster'
import { createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { CommandFailure } from '../failure.ts'
import { closePort, type ListenAt, openPort } from '../port.ts'
import type { Opened } from './messages.ts'

/** Milliseconds that workers may take to take the last connections. */
const PATIENCE_MS = 3_000
/** Milliseconds in which who was answered makes a new connection, where it makes one at once. */
const TURN_MS = 50
/** Connections that wait for a worker, which happens where all of them begin again. */
const MAX_WAITING = 1_024

/**
 * The port of all workers. The primary accepts connections and passes each to the worker that has been free for longest. It has them until
 * a worker takes them, so that none is lost when the port is closed or a worker is late.
 */
export interface Door {
  /** Opens the port at the first call; all calls have the same answer. */
  open(): Promise<Opened>
  /** A worker that takes connections from now on. */
  add(worker: Worker): void
  /** A worker that is gone. */
  remove(worker: Worker): void
  /** A worker has taken the connection that was passed to it. */
  taken(worker: Worker): void
  /** Closes the port; resolves when workers have taken every connection that came in, or after three seconds. */
  close(): Promise<void>
}

export function createDoor(at: ListenAt): Door {
  const free = new Set<Worker>()
  const busy = new Set<Worker>()
  const waiting: Socket[] = []
  let arrived = 0
  let opened: Promise<Opened> | undefined
  let emptied = (): void => {}
  const isEmpty = (): boolean => waiting.length === 0 && busy.size === 0
  const pass = (): void => {
    for (const worker of free) {
      const socket = waiting.shift()
      if (socket === undefined) break
      free.delete(worker)
      busy.add(worker)
      worker.send({ kind: 'connection' }, socket, (error) => {
        if (error === null) return
        // Its channel is closed: another one takes the connection.
        busy.delete(worker)
        waiting.unshift(socket)
        pass()
      })
    }
    if (isEmpty()) emptied()
  }
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
    arrived += 1
    if (waiting.length >= MAX_WAITING) return void socket.destroy()
    socket.on('error', () => {})
    waiting.push(socket)
    pass()
  })
  const open = async (): Promise<Opened> => {
    try {
      return { port: await openPort(server, at) }
    } catch (error) {
      if (error instanceof CommandFailure) return { failed: error.message }
      throw error
    }
  }
  return {
    open: () => (opened ??= open()),
    add(worker) {
      free.add(worker)
      pass()
    },
    remove(worker) {
      free.delete(worker)
      busy.delete(worker)
      pass()
    },
    taken(worker) {
      if (busy.delete(worker)) free.add(worker)
      pass()
    },
    async close() {
      await closePort(
        server,
        () => arrived,
        () => pause(TURN_MS),
      )
      if (isEmpty()) return
      await Promise.race([new Promise<void>((resolve) => (emptied = resolve)), pause(PATIENCE_MS, undefined, { ref: false })])
    },
  }
}
