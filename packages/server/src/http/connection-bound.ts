import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ReadMetric } from 'sluice/observe'
import { normalizePath } from 'sluice/policy'
import { Refusal, sendError } from './answer.ts'

/** Connections above the bound. They are closed soon and get answers only from the health endpoints. */
export interface ExtraConnections {
  readonly size: number
  add(socket: Socket): void
  has(socket: Socket): boolean
  /** Refuses a request on one of them; returns false for a health request, which the normal handler answers. */
  refuse(request: IncomingMessage, response: ServerResponse): boolean
}

export interface ConnectionCounts {
  /** Connections that are open now. */
  readonly open: number
  /** Connections above the bound so far. */
  readonly turnedAway: number
}

/** @param counts called at each scrape */
export function connectionMetrics(counts: () => ConnectionCounts): readonly ReadMetric[] {
  return [
    { name: 'sluice_connections', help: 'Connections that are open.', type: 'gauge', read: () => [{ value: counts().open }] },
    {
      name: 'sluice_connections_refused_total',
      help: 'Connections above --max-connections, which were answered for health alone.',
      type: 'counter',
      read: () => [{ value: counts().turnedAway }],
    },
  ]
}

/** Milliseconds in which a connection above the bound must send a request and read the response. */
const EXTRA_MS = 2_000
const HEALTH: ReadonlySet<string> = new Set(['/livez', '/readyz'])

/**
 * @param bound the number of connections that are served, for the message
 * @param most connections above it at the same time; the oldest without a request is closed for a new one, so that a probe gets its turn
 * @param isAnswered whether a request of a connection is being answered
 */
export function extraConnections(bound: number, most: number, isAnswered: (socket: Socket) => boolean): ExtraConnections {
  const extras = new Map<Socket, NodeJS.Timeout>()
  const detail = `All ${bound} connections that this process serves are taken (--max-connections).`
  /** A destroyed connection stays in the map until its close event, so it is not closed again to make room. */
  const makeRoom = (): void => {
    const open = [...extras.keys()].filter((socket) => !socket.destroyed)
    if (open.length < most) return
    const oldest = open.find((socket) => !isAnswered(socket)) ?? open[0]
    oldest?.destroy()
  }
  return {
    get size() {
      return extras.size
    },
    add(socket) {
      makeRoom()
      extras.set(
        socket,
        setTimeout(() => socket.destroy(), EXTRA_MS),
      )
      socket.once('close', () => {
        clearTimeout(extras.get(socket))
        extras.delete(socket)
      })
    },
    has: (socket) => extras.has(socket),
    refuse(request, response) {
      response.shouldKeepAlive = false
      if (HEALTH.has(normalizePath(request.url ?? '/'))) return false
      const headers = [['Retry-After', '1']] as const
      sendError(response, new Refusal(503, 'Service Unavailable', detail, {}, headers))
      return true
    },
  }
}
