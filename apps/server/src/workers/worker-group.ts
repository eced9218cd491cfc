import cluster from 'node:cluster'
import type { Server } from 'node:http'
import { Socket } from 'node:net'
import { CommandFailure, EXIT } from '../failure.ts'
import type { Repeated } from '../repeated-warnings.ts'
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

/** What a worker can say of itself. */
export type Answers = Readonly<Record<Question, () => Promise<string> | string>>

/** The workers of one service, as one of them sees them. */
export interface WorkerGroup {
  /** Whether this worker says on the terminal what all of them do. */
  readonly speaks: boolean
  /** What this worker must take in before it answers anybody. */
  begin(): Promise<Beginning>
  /**
   * Gives the server its part of the connections of one port for all workers, once it has joined; resolves with the port.
   * @throws CommandFailure exit 1 where the port cannot be opened
   */
  listen(server: Server): Promise<number>
  /** Begins to answer what others ask; the primary then counts it as serving. */
  join(answers: Answers, take: Takes): void
  /** What every worker says; those that do not say it within a second are missing. */
  gather(question: Question): Promise<Gathered>
  /** Hands a policy that this worker took in to all others. */
  relay(policy: RelayedPolicy): void
  /** Hands a change of the overrides to all others. */
  relayOverride(change: RelayedOverride): void
  /** Reports to the primary what it warns of for all workers. */
  repeated(what: Repeated, times: number): void
  /** Resolves when the primary wants this worker to stop. */
  stopped(): Promise<void>
}

/** How a worker takes in what another was given. */
export interface Takes {
  policy(policy: RelayedPolicy): void
  /** The primary has ordered a policy that this worker handed on. */
  ordered(): void
  override(change: RelayedOverride): void
  /** Answers wait from now on until the group is stopped. */
  pause(): void
}

/** The group that this process is a worker of, or undefined where it is alone. */
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
    // A worker that takes the place of another has a number of its own.
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
        // Absent where the client is gone already.
        if (connection instanceof Socket) receive(server, connection)
      })
      // The server bounds the time of requests from then on.
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

/** As a server does with a connection that it accepted itself. */
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
    // Who does not answer counts as missing.
  }
}
