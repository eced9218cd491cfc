import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Refusal, sendError } from './answer.ts'
import { type ConnectionCounts, extraConnections } from './connection-bound.ts'
import type { ConnectionBounds } from './descriptor-limit.ts'
import { closePort, twoTurns } from './port.ts'
import { slowReaders } from './slow-readers.ts'

export interface ConnectionOptions {
  /** Default: without a bound. */
  readonly bounds?: ConnectionBounds
  /** Milliseconds in which an answer must be read; default 10,000. */
  readonly readMs?: number
  /** Called for each connection that found all of them taken. */
  readonly onFull?: () => void
}

export interface Connections extends ConnectionCounts {
  /** Begins no more answers until `drain`: who waits for one makes no new connection, so that a port can be closed. */
  pause(): void
  /** Closes the port where the server listens, lets answers under way finish for at most that many milliseconds, then cuts the rest off. */
  drain(ms: number): Promise<void>
}

/** What node calls a message that cannot be read; everything else is a bad request. */
const REFUSALS: ReadonlyMap<string, readonly [status: number, title: string]> = new Map([
  ['HPE_HEADER_OVERFLOW', [431, 'Request Header Fields Too Large']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, 'Content Too Large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'Request Timeout']],
])

/** A refused client has this long to read why and to close; what it still sends is thrown away. */
const LINGER_MS = 500
/** What a client has already sent is in the machine's buffers, or on its way through the loop, for this long at most. */
const SETTLE_MS = 100
/** A kept connection on which nothing was asked for this long has most likely nothing on its way either. */
const SILENCE_MS = 250
const LOOK_EVERY_MS = 20
const READ_MS = 10_000
const MAX_SHOWN_LENGTH = 60
const LOOK_FOR_SLOW_MS = 250
const UNBOUNDED: ConnectionBounds = { served: Number.POSITIVE_INFINITY, extra: 1 }

/**
 * Has requests answered by `handle` and watches the answers under way, so that the server can stop without cutting them off; refuses what is
 * no HTTP, cuts off who does not read, and answers above a bound of connections only for health.
 */
export function watchConnections(
  server: Server,
  handle: RequestListener,
  { bounds = UNBOUNDED, readMs = READ_MS, onFull }: ConnectionOptions = {},
): Connections {
  /** With the time of the last answer, or of its beginning. */
  const sockets = new Map<Socket, number>()
  /** Connections and requests so far. */
  let arrived = 0
  /** Requests that are answered when the port is closed; undefined: at once. */
  let held: (() => void)[] | undefined
  /** By connection, in order. An answer is under way until its last byte is handed over. */
  const underWay = new Map<Duplex, ServerResponse[]>()
  /** The request that each connection sent last, whose body may still be arriving. */
  const newest = new WeakMap<Duplex, IncomingMessage>()
  const refused = new WeakSet<Duplex>()
  let draining = false
  let isEmpty = (): void => {}
  let turnedAway = 0
  const extras = extraConnections(bounds.served, bounds.extra, (socket) => underWay.has(socket))
  const slow = slowReaders(underWay, readMs)
  const watching = setInterval(
    () => slow(performance.now()).forEach((socket) => socket.destroy()),
    Math.min(LOOK_FOR_SLOW_MS, readMs),
  ).unref()
  server.once('close', () => clearInterval(watching))
  server.on('connection', (socket) => {
    arrived += 1
    if (sockets.size - extras.size >= bounds.served) {
      turnedAway += 1
      onFull?.()
      extras.add(socket)
    }
    sockets.set(socket, performance.now())
    socket.once('close', () => {
      sockets.delete(socket)
      if (sockets.size === 0) isEmpty()
    })
  })
  // One function for all: a closure for each answer would be the dearest part of counting them.
  function over(this: ServerResponse): void {
    const { socket } = this.req
    const answers = underWay.get(socket) ?? []
    if (answers.length < 2) underWay.delete(socket)
    else answers.splice(answers.indexOf(this), 1)
    if (sockets.has(socket)) sockets.set(socket, performance.now())
  }
  const take = (request: IncomingMessage, response: ServerResponse, answer: RequestListener): void => {
    arrived += 1
    const before = underWay.get(request.socket)
    if (before === undefined) underWay.set(request.socket, [response])
    else before.push(response)
    newest.set(request.socket, request)
    response.on('close', over)
    if (draining) response.shouldKeepAlive = false
    if (extras.has(request.socket) && extras.refuse(request, response)) return
    if (held === undefined) answer(request, response)
    else held.push(() => answer(request, response))
  }
  server.on('request', (request, response) => take(request, response, handle))
  server.on('checkExpectation', (request, response) => take(request, response, refuseExpectation))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // What still arrives after a refusal is read and thrown away: a reset could take the answer with it.
    if (refused.has(socket)) return
    const broken = newest.get(socket)
    const answers = underWay.get(socket) ?? []
    const own = broken?.complete === false ? answers.findIndex(({ req }) => req === broken) : answers.length
    // A body that breaks off after its answer has begun, or behind an answer that has.
    if (!socket.writable || own === -1 || answers.some(({ headersSent }) => headersSent)) return void socket.destroy()
    refused.add(socket)
    const [status, title] = REFUSALS.get(error.code ?? '') ?? [400, 'Bad Request']
    // Requests before the broken one are answered first, so that the refusal is not taken for their answer.
    allClosed(answers.slice(0, own), () => refuse(socket, status, title))
  })
  const endIdle = (): void => {
    const silentSince = performance.now() - SILENCE_MS
    for (const [socket, since] of sockets) if (since < silentSince && !underWay.has(socket) && socket.writableLength === 0) socket.end()
  }
  const pause = (): void => {
    draining = true
    held ??= []
    // A connection that is kept for the next request would keep the server.
    for (const response of [...underWay.values()].flat()) response.shouldKeepAlive = false
  }
  const release = (): void => {
    const answers = held ?? []
    held = undefined
    for (const answer of answers) answer()
  }
  return {
    get open() {
      return sockets.size
    },
    get turnedAway() {
      return turnedAway
    },
    pause,
    async drain(ms) {
      const last = setTimeout(() => sockets.forEach((_, socket) => socket.destroy()), ms)
      if (server.listening) {
        draining = true
        // Whoever had connected and written before the signal is taken in and answered; whoever comes later finds the port closed.
        await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
        // While it is closed nothing is answered, so that a turn of the loop takes no time in which others connect.
        pause()
        await closePort(server, () => arrived, twoTurns)
      } else pause()
      const closed = new Promise<void>((resolve) => {
        isEmpty = resolve
      })
      release()
      const looking = setInterval(endIdle, LOOK_EVERY_MS)
      if (sockets.size > 0) await closed
      clearInterval(looking)
      clearTimeout(last)
    },
  }
}

/** Without a listener Node.js answers 417 with an empty body. */
function refuseExpectation({ headers: { expect = '' } }: IncomingMessage, response: ServerResponse): void {
  const shown = JSON.stringify(expect.slice(0, MAX_SHOWN_LENGTH))
  sendError(response, new Refusal(417, 'Expectation Failed', `Expect is ${shown}; expected 100-continue, or no such header.`))
}

/** Calls back when all of them are closed, which is at once where there are none. */
function allClosed(responses: readonly ServerResponse[], done: () => void): void {
  let open = responses.length
  if (open === 0) return done()
  for (const response of responses) {
    response.once('close', () => {
      open -= 1
      if (open === 0) done()
    })
  }
}

/** Answers with a problem body and closes the connection, also where the client goes on sending and does not close its side. */
function refuse(socket: Duplex, status: number, title: string): void {
  if (!socket.writable) return void socket.destroy()
  const body = `${JSON.stringify({ type: 'about:blank', title, status, detail: 'The request is no HTTP that this service can read.' })}\n`
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    'Cache-Control: no-store',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  const cut = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(cut))
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
