import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { refuseBroken, refuseExpectation } from './broken-messages.ts'
import { type ConnectionBounds, extraConnections } from './connection-bound.ts'
import { closePort, twoTurns } from './port.ts'
import { closeSlowReaders, type UnderWay } from './slow-readers.ts'

export interface ConnectionOptions {
  /** The bounds of connections; by default there are none. */
  readonly bounds?: ConnectionBounds
  /** Milliseconds in which a client must read a response; default 10,000. */
  readonly readMs?: number
  /** Called for each connection above the bound. */
  readonly onFull?: () => void
}

export type Connections = ReturnType<typeof watchConnections>

/** Milliseconds within which the bytes that a client has already sent reach the event loop. */
const SETTLE_MS = 100
/** Milliseconds of silence after which a kept-alive connection most likely has no request on its way. */
const SILENCE_MS = 250
const CHECK_IDLE_MS = 20
const READ_MS = 10_000
const UNBOUNDED: ConnectionBounds = { served: Number.POSITIVE_INFINITY, extra: 1 }

/**
 * Passes requests to `handle` and tracks the responses under way, so that the server can stop without cutting them off. It refuses messages
 * that are not HTTP and closes connections whose client does not read. On connections above the bound, requests other than health checks
 * get 503.
 */
export function watchConnections(
  server: Server,
  handle: RequestListener,
  { bounds = UNBOUNDED, readMs = READ_MS, onFull }: ConnectionOptions = {},
) {
  /** For each connection: the time of its last response, or of its opening if it has had no response. */
  const sockets = new Map<Socket, number>()
  /** Responses by connection, in order. A response is under way until its last byte is passed to the operating system. */
  const underWay = new Map<Duplex, ServerResponse[]>()
  const newest = new WeakMap<Duplex, IncomingMessage>()
  const extras = extraConnections(bounds.served, bounds.extra, (socket) => underWay.has(socket))
  let [arrived, turnedAway] = [0, 0]
  const gate = createGate(server, underWay, () => arrived)
  let isEmpty = (): void => {}
  closeSlowReaders(server, underWay, readMs)
  refuseBroken(server, underWay, newest)
  server.on('connection', (socket) => {
    arrived += 1
    if (sockets.size - extras.sockets.size >= bounds.served) {
      turnedAway += 1
      onFull?.()
      extras.add(socket)
    }
    sockets.set(socket, performance.now())
    socket.once('close', () => (sockets.delete(socket) && sockets.size === 0 ? isEmpty() : undefined))
  })
  const over = ending(underWay, sockets)
  const take = (request: IncomingMessage, response: ServerResponse, answer: RequestListener): void => {
    arrived += 1
    const before = underWay.get(request.socket)
    if (before === undefined) underWay.set(request.socket, [response])
    else before.push(response)
    newest.set(request.socket, request)
    response.on('close', over)
    if (gate.draining) response.shouldKeepAlive = false
    if (extras.sockets.has(request.socket) && extras.refuse(request, response)) return
    if (gate.held === undefined) answer(request, response)
    else gate.held.push(() => answer(request, response))
  }
  server.on('request', (request, response) => take(request, response, handle))
  server.on('checkExpectation', (request, response) => take(request, response, refuseExpectation))
  return {
    get open() {
      return sockets.size
    },
    /** The number of connections so far that were above the bound. */
    get turnedAway() {
      return turnedAway
    },
    /**
     * Starts no more responses until `drain`. Clients that wait for a response make no new connections, so fewer connections arrive while
     * the port is being closed.
     */
    pause: gate.pause,
    /** If the server listens, closes the port. Lets responses under way finish for at most `ms` milliseconds, then cuts off the rest. */
    async drain(ms: number) {
      const last = setTimeout(() => sockets.forEach((_, socket) => socket.destroy()), ms)
      await gate.close()
      const closed = new Promise<void>((resolve) => (isEmpty = resolve))
      gate.release()
      const checking = setInterval(() => endIdle(sockets, underWay), CHECK_IDLE_MS)
      if (sockets.size > 0) await closed
      clearInterval(checking)
      clearTimeout(last)
    },
  }
}

/** Holds requests back while the port is being closed. */
function createGate(server: Server, underWay: UnderWay, arrived: () => number) {
  const gate = {
    /** Whether the connection of each response is closed after the response. */
    draining: false,
    /** Requests to answer once the port is closed; undefined: answer at once. */
    held: undefined as (() => void)[] | undefined,
    pause() {
      gate.draining = true
      gate.held ??= []
      // A connection that is kept alive for the next request would keep the server running.
      for (const response of [...underWay.values()].flat()) response.shouldKeepAlive = false
    },
    /** Holds requests back and closes the port, if the server listens. */
    async close() {
      if (!server.listening) return gate.pause()
      gate.draining = true
      // Clients that connected and wrote before the signal are answered; later ones find the port closed.
      await pause(SETTLE_MS)
      // Nothing is answered while the port is being closed. So turns of the event loop are short, and few clients can connect during one
      // turn.
      gate.pause()
      await closePort(server, arrived, twoTurns)
    },
    release() {
      const answers = gate.held ?? []
      gate.held = undefined
      for (const answer of answers) answer()
    },
  }
  return gate
}

function endIdle(sockets: ReadonlyMap<Socket, number>, underWay: ReadonlyMap<Duplex, unknown>): void {
  const silentSince = performance.now() - SILENCE_MS
  for (const [socket, since] of sockets) if (since < silentSince && !underWay.has(socket) && socket.writableLength === 0) socket.end()
}

/** Returns one listener for all responses. A closure for each response would be the most expensive part of tracking them. */
function ending(underWay: Map<Duplex, ServerResponse[]>, sockets: Map<Socket, number>): (this: ServerResponse) => void {
  return function over() {
    const { socket } = this.req
    const responses = underWay.get(socket) ?? []
    if (responses.length < 2) underWay.delete(socket)
    else responses.splice(responses.indexOf(this), 1)
    if (sockets.has(socket)) sockets.set(socket, performance.now())
  }
}
