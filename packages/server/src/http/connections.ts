import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { refuseBroken, refuseExpectation } from './broken-messages.ts'
import { type ConnectionBounds, extraConnections } from './connection-bound.ts'
import { closePort, twoTurns } from './port.ts'
import { closeSlowReaders, type UnderWay } from './slow-readers.ts'

export interface ConnectionOptions {
  /** Default: unbounded. */
  readonly bounds?: ConnectionBounds
  /** Milliseconds in which a client must read a response; default 10,000. */
  readonly readMs?: number
  readonly onFull?: () => void
}

export type Connections = ReturnType<typeof watchConnections>

/** Milliseconds within which bytes that a client has already sent arrive. */
const SETTLE_MS = 100
/** After this silence a kept-alive connection most likely sends no request. */
const SILENCE_MS = 250
const CHECK_IDLE_MS = 20
const READ_MS = 10_000
const UNBOUNDED: ConnectionBounds = { served: Number.POSITIVE_INFINITY, extra: 1 }

/** Tracks the responses under way, so that the server can stop without cutting them off. */
export function watchConnections(
  server: Server,
  handle: RequestListener,
  { bounds = UNBOUNDED, readMs = READ_MS, onFull }: ConnectionOptions = {},
) {
  /** The time of each connection's last response, or of its opening. */
  const sockets = new Map<Socket, number>()
  /** In the order of their requests. A response ends when its last byte is passed to the operating system. */
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
    get turnedAway() {
      return turnedAway
    },
    /** Holds back all responses until `drain`, so that clients open no new connections, which the closed port would refuse. */
    pause: gate.pause,
    /** Closes the port, and cuts off responses that take longer than `ms` milliseconds. */
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

function createGate(server: Server, underWay: UnderWay, arrived: () => number) {
  const gate = {
    /** Whether each connection is closed after its response. */
    draining: false,
    /** Requests to answer once the port is closed. Undefined: answer at once. */
    held: undefined as (() => void)[] | undefined,
    pause() {
      gate.draining = true
      gate.held ??= []
      // A kept-alive connection would keep the server running.
      for (const response of [...underWay.values()].flat()) response.shouldKeepAlive = false
    },
    async close() {
      if (!server.listening) return gate.pause()
      gate.draining = true
      // Answers clients that wrote before the signal.
      await pause(SETTLE_MS)
      // Without answers the turns of the event loop are short, so few clients connect during one.
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

/** A closure for each response would be the most expensive part of tracking them. */
function ending(underWay: Map<Duplex, ServerResponse[]>, sockets: Map<Socket, number>): (this: ServerResponse) => void {
  return function over() {
    const { socket } = this.req
    const responses = underWay.get(socket) ?? []
    if (responses.length < 2) underWay.delete(socket)
    else responses.splice(responses.indexOf(this), 1)
    if (sockets.has(socket)) sockets.set(socket, performance.now())
  }
}
