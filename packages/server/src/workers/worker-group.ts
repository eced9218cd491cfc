import cluster from 'node:cluster'
import type { Server } from 'node:http'
import { Socket } from 'node:net'
import { CommandFailure, EXIT } from '../cli/failure.ts'
import type { Repeated } from '../cli/repeated-warnings.ts'
import {
  type Beginning,
  type Gathered,
  isMessage,
  type Opened,
  type Question,
  type RelayedOverride,
  type RelayedPolicy,
  type ToPrimary,
  type ToWorker,
} from './messages.ts'

/** The data that a worker can report about itself. */
export type Answers = Readonly<Record<Question, () => Promise<string> | string>>

/** The workers of one service, from the side of one of them. */
export interface WorkerGroup {
  /** Whether this worker prints what all of them do. */
  readonly speaks: boolean
  /** Gets the state that this worker must apply before it answers requests. */
  begin(): Promise<Beginning>
  /**
   * Passes the server its share of the connections of the port, once this worker has joined; resolves with the port.
   * @throws CommandFailure exit 1 if the port cannot be opened
   */
  listen(server: Server): Promise<number>
  /** Begins to answer requests of the primary, which then counts this worker as serving. */
  join(answers: Answers, take: Takes): void
  /** The answers of all workers; those of workers that do not answer within a second are missing. */
  gather(question: Question): Promise<Gathered>
  /** Sends a policy that this worker accepted to all others. */
  relay(policy: RelayedPolicy): void
  /** Sends a change of the overrides to all others. */
  relayOverride(change: RelayedOverride): void
  /** Reports an event to the primary, which warns for all workers. */
  repeated(what: Repeated, times: number): void
  /** Resolves when the primary tells this worker to stop. */
  stopped(): Promise<void>
}

/** Callbacks that apply what another worker received. */
export interface Takes {
  policy(policy: RelayedPolicy): void
  /** The primary has ordered a policy that this worker relayed. */
  ordered(): void
  override(change: RelayedOverride): void
  /** Holds responses from now on until the group is stopped. */
  pause(): void
}

/** The group that this process is a worker of; undefined if there is one process. */
export function workerGroup(): WorkerGroup | undefined {
  if (!cluster.isWorker) return undefined
  const waiting = new Map<number, (gathered: Gathered) => void>()
  const send = (message: ToPrimary): void => {
    if (process.connected) process.send?.(message)
  }
  let asked = 0
  let stop = (): void => {}
  const stopping = new Promise<void>((resolve) => {
    stop = resolve
  })
  return {
    // A worker that replaces another has a new id, so only the first worker speaks.
    speaks: cluster.worker?.id === 1,
    begin() {
      const beginning = next('begin')
      send({ kind: 'beginning' })
      return beginning
    },
    async listen(server) {
      const listening: Promise<Opened> = next('listening')
      send({ kind: 'listen' })
      const opened = await listening
      if ('failed' in opened) throw new CommandFailure(EXIT.failed, opened.failed)
      process.on('message', (received: unknown, connection: unknown) => {
        if (!isMessage(received) || received.kind !== 'connection') return
        send({ kind: 'taken' })
        // Absent if the client has already disconnected.
        if (connection instanceof Socket) receive(server, connection)
      })
      // After this event the server enforces its time limits of requests.
      server.emit('listening')
      return opened.port
    },
    join(answers, take) {
      process.on('message', (received: unknown) => {
        if (!isMessage(received)) return
        const message = received as ToWorker
        if (message.kind === 'begin' || message.kind === 'listening' || message.kind === 'connection') return
        if (message.kind === 'pause') return take.pause()
        if (message.kind === 'stop') return stop()
        if (message.kind === 'policy') return take.policy(message.policy)
        if (message.kind === 'ordered') return take.ordered()
        if (message.kind === 'override') return take.override(message.change)
        if (message.kind === 'ask') return void tell(send, message, answers)
        waiting.get(message.id)?.(message)
        waiting.delete(message.id)
      })
      send({ kind: 'serving' })
    },
    gather(question) {
      asked += 1
      const id = asked
      return new Promise((resolve) => {
        waiting.set(id, resolve)
        send({ kind: 'gather', id, question })
      })
    },
    relay: (policy) => send({ kind: 'policy', policy }),
    relayOverride: (change) => send({ kind: 'override', change }),
    repeated: (what, times) => send({ kind: 'repeated', what, times }),
    stopped: () => stopping,
  }
}

/** The next message of that kind. */
function next<K extends ToWorker['kind']>(kind: K): Promise<Extract<ToWorker, { kind: K }>> {
  return new Promise((resolve) => {
    const onMessage = (received: unknown): void => {
      if (!isMessage(received) || received.kind !== kind) return
      process.off('message', onMessage)
      resolve(received as Extract<ToWorker, { kind: K }>)
    }
    process.on('message', onMessage)
  })
}

/** Handles a connection as a server does with one that it accepted itself. */
function receive(server: Server, connection: Socket): void {
  connection.allowHalfOpen = true
  connection.setNoDelay(true)
  server.emit('connection', connection)
}

async function tell(
  send: (message: ToPrimary) => void,
  { id, question }: Extract<ToWorker, { kind: 'ask' }>,
  answers: Answers,
): Promise<void> {
  try {
    send({ kind: 'told', id, answer: await answers[question]() })
  } catch {
    // A worker that does not answer counts as missing.
  }
}
