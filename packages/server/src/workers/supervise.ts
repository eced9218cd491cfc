import cluster, { type Worker } from 'node:cluster'
import { randomInt } from 'node:crypto'
import { CommandFailure, EXIT } from '../cli/failure.ts'
import type { ListenAt } from '../http/port.ts'
import type { CountRepeated } from '../cli/repeated-warnings.ts'
import { createDoor } from './door.ts'
import { createGathering } from './gathering.ts'
import { isMessage, type RelayedOverride, type RelayedPolicy, type ToPrimary, type ToWorker } from './messages.ts'
import { createPolicyOrder } from './policy-order.ts'
import { relayedOverrides } from './relayed-overrides.ts'

/** Milliseconds before a worker that ended is replaced; doubled for each one that ends soon after it began. */
const MIN_PAUSE_MS = 100
const MAX_PAUSE_MS = 5_000
const STEADY_MS = 10_000
/**
 * Milliseconds that workers have to stop: the port takes up to six seconds to close, responses under way four, and the store half of one.
 */
const LAST_MS = 10_500

/** The state that a worker got when it began, and the changes since then. */
interface Began {
  readonly policy: RelayedPolicy | undefined
  readonly missed: RelayedOverride[]
}

/**
 * Runs `count` processes of this command on one port until SIGTERM or SIGINT. It forwards these signals and SIGHUP to all of them. A
 * worker that ends is replaced. If the first one ends before it has served, the command ends with its exit code.
 * @param repeated counts events of all workers, to warn of them once
 */
export async function supervise(count: number, at: ListenAt, repeated: CountRepeated): Promise<void> {
  let [stopping, restarts, quickly] = [false, 0, 0]
  const serving = new Set<Worker>()
  const policies = createPolicyOrder(serving, send)
  const began = new Map<Worker, Began>()
  const overrides = relayedOverrides(Date.now)
  const names = [unguessable(), unguessable()] as const
  const pauses = new Set<NodeJS.Timeout>()
  const gathering = createGathering(() => restarts)
  const door = createDoor(at)
  const workers = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
  const forward = (signal: NodeJS.Signals): void => {
    for (const worker of workers()) worker.process.kill(signal)
  }
  const serves = (worker: Worker): void => {
    const { policy, missed } = began.get(worker) ?? { policy: undefined, missed: [] }
    began.delete(worker)
    serving.add(worker)
    const { latest } = policies
    if (latest !== undefined && policy !== latest) send(worker, { kind: 'policy', policy: latest })
    for (const change of missed) send(worker, { kind: 'override', change })
    // The worker began after the others were sent the stop.
    if (stopping) return send(worker, { kind: 'stop' })
    door.add(worker)
  }
  const hear = (worker: Worker, message: ToPrimary): void => {
    switch (message.kind) {
      case 'beginning':
        began.set(worker, { policy: policies.latest, missed: [] })
        send(worker, { kind: 'begin', policy: policies.toBegin, overrides: overrides.list(), names })
        return
      case 'serving':
        return serves(worker)
      case 'gather':
        return gathering.gather(worker, message.id, message.question, [...serving], count)
      case 'listen':
        void door.open().then((opened) => send(worker, { kind: 'listening', ...opened }))
        return
      case 'taken':
        return door.taken(worker)
      case 'repeated':
        return repeated(message.what, message.times)
      case 'told':
        return gathering.told(worker, message.id, message.answer)
      case 'policy':
        return policies.add(worker, message.policy)
      case 'override':
        overrides.change(message.change)
        for (const { missed } of began.values()) missed.push(message.change)
        for (const other of serving) if (other !== worker) send(other, { kind: 'override', change: message.change })
    }
  }
  const begin = (): Worker => {
    const started = performance.now()
    const worker = cluster.fork()
    worker.on('message', (message: unknown) => (isMessage(message) ? hear(worker, message as ToPrimary) : undefined))
    // A broken channel: the worker's exit follows, and is handled there.
    worker.on('error', () => {})
    // `close` comes after `exit`, when everything that the worker sent has been received.
    worker.process.once('close', () => door.remove(worker))
    worker.once('exit', (code, signal) => {
      const served = serving.delete(worker)
      began.delete(worker)
      gathering.ended(worker)
      if (stopping || (!served && worker.id === 1)) return
      quickly = performance.now() - started < STEADY_MS ? quickly + 1 : 1
      const pause = Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** (quickly - 1))
      const how = signal === null || signal === '' ? `with ${code}` : `by ${signal}`
      process.stderr.write(`sluice: worker ${worker.process.pid} ended ${how}; another begins in ${pause / 1_000} s\n`)
      const timer = setTimeout(() => {
        pauses.delete(timer)
        restarts += 1
        begin()
      }, pause)
      pauses.add(timer)
    })
    return worker
  }
  process.on('SIGHUP', () => forward('SIGHUP'))
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve)
  })
  const first = begin()
  await Promise.race([servesOrFails(first), stopped])
  if (first.isConnected()) for (let more = 1; more < count; more += 1) begin()
  await stopped
  stopping = true
  for (const timer of pauses) clearTimeout(timer)
  const gone = workers().map((worker) => new Promise<void>((resolve) => worker.once('exit', () => resolve())))
  for (const worker of workers()) if (!serving.has(worker)) worker.process.kill('SIGTERM')
  const last = setTimeout(() => forward('SIGKILL'), LAST_MS)
  // Clients that wait for a response make no new connection meanwhile.
  for (const worker of serving) send(worker, { kind: 'pause' })
  await door.close()
  for (const worker of serving) send(worker, { kind: 'stop' })
  await Promise.all(gone)
  clearTimeout(last)
}

/** Sends a message, unless the worker has lost its channel; it may lose the channel before its exit is reported. */
function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message)
}

function unguessable(): number {
  return randomInt(2 ** 32) / 2 ** 32
}

/** Waits until one worker serves or fails: one worker, and not all of them, reports a port in use or an unreachable store. */
function servesOrFails(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: unknown) => (isMessage(message) && message.kind === 'serving' ? resolve() : undefined))
    worker.once('exit', (code) => reject(new WorkerFailure(code ?? EXIT.failed)))
  })
}

/** A failure of a worker, which has already printed the reason. */
export class WorkerFailure extends CommandFailure {
  constructor(exitCode: number) {
    super(exitCode, '')
  }
}
