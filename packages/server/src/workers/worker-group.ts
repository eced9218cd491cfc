import type { Server } from 'node:http'
import { Socket } from 'node:net'
import type { KeyTarget } from 'sluice/policy'
import { failed } from '../cli/failure.ts'
import { type Io, signalled } from '../cli/io.ts'
import type { Readiness } from '../endpoints/health.ts'
import { type ListenAt, openPort } from '../http/port.ts'
import { draining } from '../logs/draining.ts'
import type { Log, LogEntry, Logs } from '../logs/log.ts'
import { type CountRepeated, inBatches, repeatedLines } from '../logs/repeated-lines.ts'
import { createStates, type StateChange } from '../logs/states.ts'
import { ignoreUnknown, unknownKind } from './ignore-unknown.ts'
import { randomNames, type ToPrimary, type ToWorker } from './messages.ts'
import type { Beginning, Gathered, Opened, OrderOverrides, ReadReports, RelayedOverride, Removed, Reports } from './messages.ts'
import { sumMetrics } from './sum-metrics.ts'

/** Another process of the service received or decided this change. */
export type Change = Extract<ToWorker, { kind: 'policy' | 'ordered' | 'overrides' | 'pause' }>

export interface Group {
  readonly logs: Logs
  /** Reports that this process lost its store or opened a breaker, or that the store works again or the breaker is closed. */
  readonly report: (change: StateChange) => void
  /** For frequent events: the counts of all processes are logged in one line. */
  readonly repeated: CountRepeated
  /** What this process must apply before it answers requests. */
  begin(): Promise<Beginning>
  /** A process that does not answer within a second is missing, except for its last counters. */
  reports(own: ReadReports): ReadReports
  /**
   * Resolves with the port number. A worker gets connections only after `join`.
   * @throws CommandFailure exit 1 if the port cannot be opened
   */
  listen(server: Server): Promise<number>
  /**
   * From now on this process counts as serving.
   * @param apply gets each change since `begin`
   * @param applied resolves when all changes until now are applied
   * @param read the policy that this process read from the file or URL itself
   */
  join(apply: (change: Change) => void, applied: () => Promise<void>, read: Extract<ToPrimary, { kind: 'serving' }>['read']): void
  send(message: Extract<ToPrimary, { kind: 'policy' }>): void
  /** Absent if there is one process. */
  readonly order?: OrderOverrides
  /** Resolves when this process is to stop serving, with a function to call after its server and store are closed. */
  stopped(): Promise<() => void>
}

const CHANGES: readonly string[] = ['policy', 'ordered', 'overrides', 'pause'] satisfies Change['kind'][]
const STOPS = ['SIGTERM', 'SIGINT'] as const

/** @param served the most connections, for log lines */
export function oneProcess(at: ListenAt, served: number, io: Io, log: Log): Group {
  const states = createStates(log, () => performance.now())
  return {
    report: (change) => states.changed(process, change),
    logs: { shared: log, single: log, own: log },
    repeated: repeatedLines(log, served),
    begin: async () => ({ fromPlace: undefined, policy: undefined, overrides: [], names: randomNames() }),
    reports: (own) => own,
    listen: (server) => openPort(server, at),
    join: () => {},
    send: () => {},
    stopped: async () => draining(log, await signalled(io, STOPS)),
  }
}

export function workerGroup(io: Io): Group {
  const [begun, opened, stopped] = [later<Beginning>(), later<Opened>(), later<() => void>()]
  const [gathers, early] = [createGathers(), [] as Change[]]
  let [own, apply, server]: [ReadReports?, ((change: Change) => void)?, Server?] = []
  let applied: (() => Promise<void>) | undefined
  const receive = (message: ToWorker, connection: unknown): void => {
    switch (message.kind) {
      case 'begin':
        return begun.resolve(message)
      case 'listening':
        return opened.resolve(message)
      case 'connection':
        send({ kind: 'taken' })
        // There is no socket if the client has already disconnected.
        return connection instanceof Socket ? accept(server, connection) : undefined
      case 'report':
        return void report(message.id, message.name === 'barrier' ? applied : own?.[message.name], message.isFirst)
      case 'gathered':
        return gathers.gathered(message.id, message)
      case 'stop':
        return stopped.resolve(() => {})
      default:
        if (!isChange(message)) return unknownKind(message)
        return apply === undefined ? void early.push(message) : apply(message)
    }
  }
  process.on('message', ignoreUnknown(receive, lineTo('own')))
  return {
    report: (change) => send({ kind: 'state', change }),
    logs: { shared: lineTo('shared'), single: lineTo('single'), own: lineTo('own') },
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
    join(now, nowApplied, read) {
      apply = now
      applied = nowApplied
      for (const change of early.splice(0)) now(change)
      send({ kind: 'serving', read })
    },
    send,
    order: gathers.order,
    stopped() {
      // A signal may reach every process. Only the primary acts on it, and stops the workers by messages.
      for (const signal of STOPS) io.onSignal(signal, () => {})
      return stopped.promise
    },
  }
}

function isChange(message: ToWorker): message is Change {
  return CHANGES.includes(message.kind)
}

async function report(id: number, make: ((isFirst: boolean) => unknown) | undefined, isFirst: boolean): Promise<void> {
  try {
    send({ kind: 'reported', id, report: await make?.(isFirst) })
  } catch {
    // A failed report is not sent.
  }
}

function createGathers() {
  const waiting = new Map<number, (gathered: Gathered) => void>()
  let last = 0
  const request = (messageOf: (id: number) => ToPrimary): Promise<Gathered> => {
    last += 1
    const id = last
    send(messageOf(id))
    return new Promise((resolve) => waiting.set(id, resolve))
  }
  const gather = (name: keyof Reports): Promise<Gathered> => request((id) => ({ kind: 'gather', id, name }))
  return {
    all: {
      metrics: async () => sumMetrics((await gather('metrics')).reports as string[]),
      readiness: async () => readinessOfAll(await gather('readiness')),
      top: async () => ((await gather('top')).reports as Reports['top'][]).flat(),
      activity: async () => ((await gather('activity')).reports as Reports['activity'][]).flat(),
    },
    async order(changes: readonly RelayedOverride[], target?: KeyTarget) {
      const { reports } = await request((id) => ({ kind: 'overrides', id, changes, ...(target === undefined ? {} : { target }) }))
      return reports[0] as Removed
    },
    gathered(id: number, gathered: Gathered) {
      waiting.get(id)?.(gathered)
      waiting.delete(id)
    },
  }
}

/** Of `shared` lines, the primary writes only those of one worker. */
function lineTo(from: keyof Logs): Log {
  return (...entry: LogEntry) => send({ kind: 'line', from, entry })
}

function send(message: ToPrimary): void {
  if (process.connected) process.send?.(message)
}

function later<T>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => (resolve = settle))
  return { promise, resolve: (value: T) => resolve(value) }
}

/** As a server does with a connection that it accepted itself. */
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
