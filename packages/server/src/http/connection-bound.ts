import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { usage } from '../cli/failure.ts'
import { Refusal, sendError } from './answer.ts'
import { endpointOf, HEALTH } from './routes.ts'
import { counter, gauge } from './service-metrics.ts'

/** Connections beyond `served` are extra: they get only health responses. */
export interface ConnectionBounds {
  readonly served: number
  readonly extra: number
  /** Set if the system allows fewer connections than the default. */
  readonly warning?: string
}

export const DEFAULT_CONNECTIONS = 10_000
/** Files of the process itself, such as connections to the store. */
const OWN_FILES = 64
const MAX_EXTRA = 256
const MIN_EXTRA = 16

/**
 * How many connections fit into the limit of open files.
 * @param wanted the value of --max-connections
 * @throws CommandFailure exit 3 if `wanted` is more than fit
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
 * The limit of open files, which Node.js has raised as far as it can; Infinity if unknown. Read once, because a report takes milliseconds.
 */
export function openFilesLimit(): number {
  return (filesLimit ??= readFilesLimit())
}

function readFilesLimit(): number {
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork?: boolean }
  // Otherwise the report looks up host names, which may take seconds.
  report.excludeNetwork = true
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | 'unlimited' } } }
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}

export function connectionMetrics(counts: () => { readonly open: number; readonly turnedAway: number }) {
  const refused = 'Connections above --max-connections, which were answered for health alone.'
  return [
    gauge('sluice_connections', 'Connections that are open.', () => [{ value: counts().open }]),
    counter('sluice_connections_refused_total', refused, () => [{ value: counts().turnedAway }]),
  ]
}

/** Within this time an extra connection must send its request and read the response. */
const EXTRA_MS = 2_000

/**
 * Connections above the bound, which are closed soon. Each new one is accepted, such as that of a health check: it replaces the oldest, but
 * if possible not one whose request is being answered.
 */
export function extraConnections(bound: number, most: number, isAnswered: (socket: Socket) => boolean) {
  const extras = new Map<Socket, NodeJS.Timeout>()
  const detail = `All ${bound} connections that this process serves are taken (--max-connections).`
  /** A destroyed connection stays in the map until its close event. */
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
    /** Returns false for a health request, which is not refused. */
    refuse(request: IncomingMessage, response: ServerResponse) {
      response.shouldKeepAlive = false
      if (HEALTH.has(endpointOf(request.url ?? '/').path)) return false
      sendError(response, new Refusal(503, detail, {}, [['Retry-After', '1']]))
      return true
    },
  }
}
