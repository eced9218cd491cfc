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
  /**
   * A worker has ended, and everything that it sent has been received. The connection that was passed to it is passed to another worker
   * unless it was taken: a worker says so before it reads from a connection.
   */
  remove(worker: Worker): void
  /** A worker has taken the connection that was passed to it. The primary's copy of it is closed. */
  taken(worker: Worker): void
  /** Closes the port; resolves when workers have taken every connection that came in, or after three seconds. */
  close(): Promise<void>
}

export function createDoor(at: ListenAt): Door {
  const free = new Set<Worker>()
  /** Workers that have not taken the connection yet that was passed to them. */
  const passed = new Map<Worker, Socket>()
  const waiting: Socket[] = []
  let arrived = 0
  let opened: Promise<Opened> | undefined
  let emptied = (): void => {}
  const isEmpty = (): boolean => waiting.length === 0 && passed.size === 0
  const pass = (): void => {
    for (const worker of free) {
      const socket = waiting.shift()
      if (socket === undefined) break
      free.delete(worker)
      passed.set(worker, socket)
      // Kept open here: Node.js never closes a handle whose receiver died before it acknowledged it.
      worker.send({ kind: 'connection' }, socket, { keepOpen: true }, (error) => {
        // Its channel is closed: another one takes the connection.
        if (error !== null) takeBack(worker)
      })
    }
    if (isEmpty()) emptied()
  }
  const takeBack = (worker: Worker): void => {
    const socket = passed.get(worker)
    if (socket === undefined) return
    passed.delete(worker)
    waiting.unshift(socket)
    pass()
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
      takeBack(worker)
    },
    taken(worker) {
      const socket = passed.get(worker)
      if (socket === undefined) return
      passed.delete(worker)
      socket.destroy()
      free.add(worker)
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
