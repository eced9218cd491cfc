import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Refusal, sendError } from './answer.ts'
import { type ConnectionBounds, type ConnectionCounts, extraConnections } from './connection-bound.ts'
import { closePort, twoTurns } from './port.ts'
import { slowReaders } from './slow-readers.ts'

export interface ConnectionOptions {
  /** Default: unbounded. */
  readonly bounds?: ConnectionBounds
  /** Milliseconds in which a client must read a response; default 10,000. */
  readonly readMs?: number
  /** Called for each connection that arrives when all are taken. */
  readonly onFull?: () => void
}

export interface Connections extends ConnectionCounts {
  /** Starts no more responses until `drain`. A client that waits for a response makes no new connection, so the port can be closed. */
  pause(): void
  /** If the server listens, closes the port. Lets responses under way finish for at most `ms` milliseconds, then cuts off the rest. */
  drain(ms: number): Promise<void>
}

/** The errors that Node.js reports for a message that cannot be read; any other error is a 400. */
const REFUSALS: ReadonlyMap<string, readonly [status: number, title: string]> = new Map([
  ['HPE_HEADER_OVERFLOW', [431, 'Request Header Fields Too Large']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, 'Content Too Large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'Request Timeout']],
])

/** Milliseconds that a refused client has to read the reason and to close. What it still sends is dropped. */
const LINGER_MS = 500
/** Milliseconds within which the bytes that a client has already sent reach the event loop. */
const SETTLE_MS = 100
/** Milliseconds of silence after which a kept-alive connection most likely has no request on its way. */
const SILENCE_MS = 250
const LOOK_EVERY_MS = 20
const READ_MS = 10_000
const MAX_SHOWN_LENGTH = 60
const LOOK_FOR_SLOW_MS = 250
const UNBOUNDED: ConnectionBounds = { served: Number.POSITIVE_INFINITY, extra: 1 }

/**
 * Passes requests to `handle` and tracks the responses under way, so that the server can stop without cutting them off. It refuses
 * messages that are not HTTP and closes connections whose client does not read. Connections above a bound get only health responses.
 */
export function watchConnections(
  server: Server,
  handle: RequestListener,
  { bounds = UNBOUNDED, readMs = READ_MS, onFull }: ConnectionOptions = {},
): Connections {
  /** Time of the last response of each connection, or of its beginning. */
  const sockets = new Map<Socket, number>()
  /** Connections and requests so far. */
  let arrived = 0
  /** Requests to answer once the port is closed; undefined: answer at once. */
  let held: (() => void)[] | undefined
  /** Responses by connection, in order. A response is under way until its last byte is handed to the system. */
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
  // One function for all: creating a closure for each response would be the most expensive part of counting them.
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
    // Bytes that arrive after a refusal are read and dropped: a reset could discard the response.
    if (refused.has(socket)) return
    const broken = newest.get(socket)
    const answers = underWay.get(socket) ?? []
    const own = broken?.complete === false ? answers.findIndex(({ req }) => req === broken) : answers.length
    // The body ended early after its response had begun, or behind a response that had.
    if (!socket.writable || own === -1 || answers.some(({ headersSent }) => headersSent)) return void socket.destroy()
    refused.add(socket)
    const [status, title] = REFUSALS.get(error.code ?? '') ?? [400, 'Bad Request']
    // Answers the requests before the broken one first, so that the client does not take the refusal for their response.
    allClosed(answers.slice(0, own), () => refuse(socket, status, title))
  })
  const endIdle = (): void => {
    const silentSince = performance.now() - SILENCE_MS
    for (const [socket, since] of sockets) if (since < silentSince && !underWay.has(socket) && socket.writableLength === 0) socket.end()
  }
  const pause = (): void => {
    draining = true
    held ??= []
    // A connection that is kept alive for the next request would keep the server running.
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
        // Clients that connected and wrote before the signal are answered; later ones find the port closed.
        await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
        // While the port is being closed nothing is answered, so that a turn of the loop takes no time in which other clients connect.
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

/** Refuses an Expect header with a problem body. Without this listener Node.js sends 417 with an empty body. */
function refuseExpectation({ headers: { expect = '' } }: IncomingMessage, response: ServerResponse): void {
  const shown = JSON.stringify(expect.slice(0, MAX_SHOWN_LENGTH))
  sendError(response, new Refusal(417, 'Expectation Failed', `Expect is ${shown}; expected 100-continue, or no such header.`))
}

/** Calls back when all of them are closed; at once if there are none. */
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

/** Sends a problem body and closes the connection, even if the client goes on sending and does not close its side. */
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
