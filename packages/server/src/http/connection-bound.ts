import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { normalizePath } from 'sluice/policy'
import { usage } from '../cli/failure.ts'
import { Refusal, sendError } from './answer.ts'
import { HEALTH } from './routes.ts'
import { counter, gauge } from './service-metrics.ts'

/** How many connections a process serves, and how many more get only health responses. */
export interface ConnectionBounds {
  readonly served: number
  readonly extra: number
  /** A line for the operator; present if the system allows fewer connections than the default. */
  readonly warning?: string
}

export const DEFAULT_CONNECTIONS = 10_000
/** Open files that the process itself needs: connections to the store, the policy file, channels to other processes. */
const OWN_FILES = 64
const MAX_EXTRA = 256
const MIN_EXTRA = 16

/**
 * Computes how many connections fit into the process's limit of open files, less those kept for health checks and for the process itself.
 * @param wanted the value of --max-connections
 * @param files the limit of open files; Infinity if the system reports none
 * @throws CommandFailure exit 3 if `wanted` is more connections than fit
 */
export function connectionBounds(wanted: number | undefined, files: number = openFilesLimit()): ConnectionBounds {
  const extra = Math.max(MIN_EXTRA, Math.min(MAX_EXTRA, Math.floor(files / 8)))
  const fitting = Math.max(1, files - OWN_FILES - extra)
  const served = wanted ?? DEFAULT_CONNECTIONS
  if (served <= fitting) return { served, extra }
  const limit = `the system lets this process have ${files} files open (ulimit -n)`
  if (wanted !== undefined) throw usage(`--max-connections is ${wanted}: ${limit}; expected at most ${fitting}`)
  const warning = `${limit}: ${fitting} connections are served, and not ${DEFAULT_CONNECTIONS}`
  return { served: fitting, extra, warning }
}

let filesLimit: number | undefined

/**
 * The limit of open files, after Node.js has raised it as far as the system allows; Infinity if the system reports none. It is read once,
 * because a report takes milliseconds.
 */
export function openFilesLimit(): number {
  return (filesLimit ??= readFilesLimit())
}

function readFilesLimit(): number {
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork?: boolean }
  // Without this the report looks up host names of addresses, which may take seconds.
  report.excludeNetwork = true
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | 'unlimited' } } }
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}

/**
 * @param counts called at each scrape; returns the number of open connections, and how many connections so far were above the bound
 */
export function connectionMetrics(counts: () => { readonly open: number; readonly turnedAway: number }) {
  const refused = 'Connections above --max-connections, which were answered for health alone.'
  return [
    gauge('sluice_connections', 'Connections that are open.', () => [{ value: counts().open }]),
    counter('sluice_connections_refused_total', refused, () => [{ value: counts().turnedAway }]),
  ]
}

/** Milliseconds in which a connection above the bound must send a request and read the response. */
const EXTRA_MS = 2_000

/**
 * Connections above the bound. They are closed soon and get answers only from the health endpoints.
 * @param bound the number of connections that are served, for the message
 * @param most how many extra connections may be open at once. A further one replaces the oldest whose request is not being answered or, if
 * all are being answered, the oldest of all. So a new connection, such as that of a health check, is always accepted
 * @param isAnswered whether a request of a connection is being answered
 */
export function extraConnections(bound: number, most: number, isAnswered: (socket: Socket) => boolean) {
  const extras = new Map<Socket, NodeJS.Timeout>()
  const detail = `All ${bound} connections that this process serves are taken (--max-connections).`
  /**
   * Closes one extra connection if there are `most` already. A destroyed one stays in the map until its close event, so it is skipped here.
   */
  const makeRoom = (): void => {
    const open = [...extras.keys()].filter((socket) => !socket.destroyed)
    if (open.length >= most) (open.find((socket) => !isAnswered(socket)) ?? open[0])?.destroy()
  }
  return {
    sockets: extras as ReadonlyMap<Socket, unknown>,
    add(socket: Socket) {
      makeRoom()
      const late = setTimeout(() => socket.destroy(), EXTRA_MS)
      extras.set(socket, late)
      socket.once('close', () => {
        clearTimeout(late)
        extras.delete(socket)
      })
    },
    /** Refuses a request on an extra connection. Returns false for a health request, which the normal handler answers. */
    refuse(request: IncomingMessage, response: ServerResponse) {
      response.shouldKeepAlive = false
      if (HEALTH.has(normalizePath(request.url ?? '/'))) return false
      sendError(response, new Refusal(503, detail, {}, [['Retry-After', '1']]))
      return true
    },
  }
}
