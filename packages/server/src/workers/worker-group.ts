import cluster from 'node:cluster'
import type { Server } from 'node:http'
import { Socket } from 'node:net'
import { failed } from '../cli/failure.ts'
import { type Io, signalled, warningTo } from '../cli/io.ts'
import { type CountRepeated, inBatches, repeatedWarnings } from '../cli/repeated-warnings.ts'
import type { Readiness } from '../endpoints/health.ts'
import { type ListenAt, openPort } from '../http/port.ts'
import type { Counted } from '../page/busiest-keys.ts'
import type { Beginning, Gathered, Opened, Reports } from './messages.ts'
import { randomNames, type RelayedOverride, type RelayedPolicy, type ToPrimary, type ToWorker } from './messages.ts'
import { sumMetrics } from './sum-metrics.ts'

export type OwnReports = { readonly [Name in keyof Reports]: () => Promise<Reports[Name]> | Reports[Name] }

/** The reports of all processes of a service. */
export interface AllReports {
  metrics(): Promise<string> | string
  readiness(): Promise<Readiness> | Readiness
  top(): Promise<readonly Counted[]>
}

/** Callbacks that apply what another process of the service received. */
export interface GroupCallbacks {
  policy(policy: RelayedPolicy): void
  /** The primary has ordered a policy that this process sent. */
  ordered(): void
  override(change: RelayedOverride): void
  /** Holds responses from now on until the group is stopped. */
  pause(): void
}

/** The processes of one service, from the side of one of them. */
export interface Group {
  /** Whether this process prints what all of them do. */
  readonly speaks: boolean
  /** Counts an event, of which one process warns for all. */
  readonly repeated: CountRepeated
  /** Gets the state that this process must apply before it answers requests. */
  begin(): Promise<Beginning>
  /** The reports of all processes; those of processes that do not answer within a second are missing. */
  reports(own: OwnReports): AllReports
  /**
   * Passes the server its share of the connections of the port, once this process has joined; resolves with the port.
   * @throws CommandFailure exit 1 if the port cannot be opened
   */
  listen(server: Server): Promise<number>
  /** Counts this process as serving from now on, and applies what others have received since `begin`. */
  join(callbacks: GroupCallbacks): void
  send(message: Extract<ToPrimary, { kind: 'policy' | 'override' }>): void
  /** Handles the signals that stop a service; resolves when this process is to stop. */
  stopped(): Promise<void>
}

const STOPS = ['SIGTERM', 'SIGINT'] as const

/** The group of a service in one process. @param served the connections that it serves */
export function oneProcess(at: ListenAt, served: number, io: Io): Group {
  return {
    speaks: true,
    repeated: repeatedWarnings(warningTo(io), served),
    begin: async () => ({ policy: undefined, overrides: [], names: randomNames() }),
    reports: (own) => ({ ...own, top: async () => [await own.top()] }),
    listen: (server) => openPort(server, at),
    join: () => {},
    send: () => {},
    stopped: async () => void (await signalled(io, STOPS)),
  }
}

/** The group that this process is a worker of. */
export function workerGroup(io: Io): Group {
  const [begun, opened, stopped] = [later<Beginning>(), later<Opened>(), later<void>()]
  const gathers = createGathers()
  const early: Change[] = []
  let [own, callbacks, server]: [OwnReports?, GroupCallbacks?, Server?] = []
  const receive = (message: ToWorker, connection: unknown): void => {
    switch (message.kind) {
      case 'begin':
        return begun.resolve(message)
      case 'listening':
        return opened.resolve(message)
      case 'connection':
        send({ kind: 'taken' })
        // Absent if the client has already disconnected.
        return connection instanceof Socket ? accept(server, connection) : undefined
      case 'report':
        return void report(message.id, own?.[message.name])
      case 'gathered':
        return gathers.gathered(message.id, message)
      case 'stop':
        return stopped.resolve()
      default:
        return callbacks === undefined ? void early.push(message) : apply(message, callbacks)
    }
  }
  process.on('message', receive)
  return {
    // A worker that replaces another has a new id, so only the first worker speaks.
    speaks: cluster.worker?.id === 1,
    repeated: inBatches((what, times) => send({ kind: 'repeated', what, times })),
    begin() {
      send({ kind: 'beginning' })
      return begun.promise
    },
    reports(ownReports) {
      own = ownReports
      return gathers.all
    },
    async listen(listening) {
      server = listening
      send({ kind: 'listen' })
      const port = await opened.promise
      if ('failed' in port) throw failed(port.failed)
      // After this event the server enforces its time limits of requests.
      server.emit('listening')
      return port.port
    },
    join(now) {
      callbacks = now
      for (const change of early.splice(0)) apply(change, now)
      send({ kind: 'serving' })
    },
    send,
    stopped() {
      // A signal may reach every process. The primary handles it: it closes the port before workers stop.
      for (const signal of STOPS) io.onSignal(signal, () => {})
      return stopped.promise
    },
  }
}

type Change = Extract<ToWorker, { kind: keyof GroupCallbacks }>

function apply(change: Change, callbacks: GroupCallbacks): void {
  if (change.kind === 'policy') callbacks.policy(change.policy)
  else if (change.kind === 'override') callbacks.override(change.change)
  else callbacks[change.kind]()
}

/** Sends a report. A worker that cannot make it counts as missing. */
async function report(id: number, make: (() => unknown) | undefined): Promise<void> {
  try {
    send({ kind: 'reported', id, report: await make?.() })
  } catch {
    // As above.
  }
}

function createGathers() {
  const waiting = new Map<number, (gathered: Gathered) => void>()
  let last = 0
  const gather = (name: keyof Reports): Promise<Gathered> => {
    last += 1
    const id = last
    send({ kind: 'gather', id, name })
    return new Promise((resolve) => waiting.set(id, resolve))
  }
  return {
    all: {
      metrics: async () => sumMetrics((await gather('metrics')).reports as string[]),
      readiness: async () => readinessOfAll(await gather('readiness')),
      top: async () => (await gather('top')).reports as Counted[],
    },
    gathered(id: number, gathered: Gathered) {
      waiting.get(id)?.(gathered)
      waiting.delete(id)
    },
  }
}

function send(message: ToPrimary): void {
  if (process.connected) process.send?.(message)
}

function later<T>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => (resolve = settle))
  return { promise, resolve: (value: T) => resolve(value) }
}

/** Handles a connection as a server does with one that it accepted itself. */
function accept(server: Server | undefined, connection: Socket): void {
  connection.allowHalfOpen = true
  connection.setNoDelay(true)
  server?.emit('connection', connection)
}

/** The readiness of the worst worker: 503 before 200, and degraded before ready. */
function readinessOfAll({ reports, workers: wanted }: Gathered): Readiness {
  const all = reports as readonly Readiness[]
  const workers = { serving: all.length, wanted }
  const worst = all.find(({ status }) => status === 503) ?? all.find(({ body }) => body.store !== undefined) ?? all[0]
  if (worst === undefined || all.length < wanted) return { status: 503, body: { status: 'starting', workers } }
  return { status: worst.status, body: { ...worst.body, workers } }
}
