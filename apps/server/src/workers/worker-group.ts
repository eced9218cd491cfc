import cluster from 'node:cluster'
import {
  type Beginning,
  type Gathered,
  isMessage,
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
  /** Begins to answer what others ask; the primary then counts it as serving. */
  join(answers: Answers, take: Takes): void
  /** What every worker says; those that do not say it within a second are missing. */
  gather(question: Question): Promise<Gathered>
  /** Hands a policy that this worker took in to all others. */
  relay(policy: RelayedPolicy): void
  /** Hands a change of the overrides to all others. */
  relayOverride(change: RelayedOverride): void
  /** Resolves when what the primary had on its way to this worker has arrived, connections above all. */
  turn(): Promise<void>
  /** Tells the primary that this worker takes no more connections. */
  closed(): void
  /** Resolves when the primary wants this worker to stop. */
  stopped(): Promise<void>
}

/** How a worker takes in what another was given. */
export interface Takes {
  policy(policy: RelayedPolicy): void
  /** The primary has ordered a policy that this worker handed on. */
  ordered(): void
  override(change: RelayedOverride): void
}

/** Milliseconds in which who was answered makes a new connection, where it makes one at once. */
const TURN_MS = 50

/** The group that this process is a worker of, or undefined where it is alone. */
export function workerGroup(): WorkerGroup | undefined {
  if (!cluster.isWorker) return undefined
  const waiting = new Map<number, (gathered: Gathered) => void>()
  const send = (message: ToPrimary): void => {
    if (process.connected) process.send?.(message)
  }
  const turning = new Map<number, () => void>()
  let asked = 0
  let stop = (): void => {}
  const stopping = new Promise<void>((resolve) => {
    stop = resolve
  })
  return {
    // A worker that takes the place of another has a number of its own.
    speaks: cluster.worker?.id === 1,
    begin() {
      return new Promise((resolve) => {
        const hear = (received: unknown): void => {
          if (!isMessage(received) || received.kind !== 'begin') return
          process.off('message', hear)
          resolve(received as Extract<ToWorker, { kind: 'begin' }>)
        }
        process.on('message', hear)
        send({ kind: 'beginning' })
      })
    },
    join(answers, take) {
      process.on('message', (received: unknown) => {
        if (!isMessage(received)) return
        const message = received as ToWorker
        if (message.kind === 'begin') return
        if (message.kind === 'stop') return stop()
        if (message.kind === 'turned') {
          turning.get(message.id)?.()
          turning.delete(message.id)
          return
        }
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
    async turn() {
      // A client that another worker has just answered needs a moment to come back.
      await new Promise((resolve) => setTimeout(resolve, TURN_MS))
      asked += 1
      const id = asked
      await new Promise<void>((resolve) => {
        turning.set(id, resolve)
        send({ kind: 'turn', id })
      })
    },
    closed: () => send({ kind: 'closed' }),
    stopped: () => stopping,
  }
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
