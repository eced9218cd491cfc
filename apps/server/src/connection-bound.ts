import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ReadMetric } from 'sluice/observe'
import { normalizePath } from 'sluice/policy'
import { Refusal, sendError } from './answer.ts'

/** Connections above the bound: they are closed soon, and asked for nothing but health. */
export interface ExtraConnections {
  readonly size: number
  add(socket: Socket): void
  has(socket: Socket): boolean
  /** Answers a request of one of them; false where it asks for health, which others answer. */
  refuse(request: IncomingMessage, response: ServerResponse): boolean
}

export interface ConnectionCounts {
  /** Connections that are open now. */
  readonly open: number
  /** Connections above the bound so far. */
  readonly turnedAway: number
}

/** @param counts is asked at each scrape */
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

/** Milliseconds in which a connection above the bound must ask and read its answer. */
const EXTRA_MS = 2_000
const HEALTH: ReadonlySet<string> = new Set(['/livez', '/readyz'])

/**
 * @param bound the number of connections that are served, for the message
 * @param most connections above it at the same time; the oldest that asks nothing gives way to a new one, so that a probe gets its turn
 * @param isAnswered whether a request of a connection is being answered
 */
export function extraConnections(bound: number, most: number, isAnswered: (socket: Socket) => boolean): ExtraConnections {
  const extras = new Map<Socket, NodeJS.Timeout>()
  const detail = `All ${bound} connections that this process serves are taken (--max-connections).`
  /** One that was destroyed stays until it reports its end: it makes no more room. */
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
