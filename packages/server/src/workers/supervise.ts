import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { CommandFailure, EXIT } from '../cli/failure.ts'
import type { CountRepeated } from '../cli/repeated-warnings.ts'
import type { ListenAt } from '../http/port.ts'
import { createDoor } from './door.ts'
import { createGathering } from './gathering.ts'
import { randomNames, sendTo, type ToPrimary } from './messages.ts'
import { createPolicyOrder, relayedOverrides } from './shared-state.ts'

/** Milliseconds before a worker that ended is replaced; doubled for each one that ends soon after it began. */
const MIN_PAUSE_MS = 100
const MAX_PAUSE_MS = 5_000
const STEADY_MS = 10_000
/** Milliseconds that workers have to stop: up to six seconds for the port, four for responses under way, and half of one for the store. */
const LAST_MS = 10_500

/**
 * Runs `count` processes of this command on one port until SIGTERM or SIGINT. It forwards these signals and SIGHUP to all of them. A
 * worker that ends is replaced. If the first one ends before it has served, the command ends with its exit code.
 * @param repeated counts events of all workers, to warn of them once
 */
export async function supervise(count: number, at: ListenAt, repeated: CountRepeated): Promise<void> {
  let stopping = false
  /** Workers that have the state of the others and get its changes, and those of them that answer requests. */
  const [begun, serving] = [new Set<Worker>(), new Set<Worker>()]
  const policies = createPolicyOrder(begun, sendTo)
  const overrides = relayedOverrides(Date.now)
  const names = randomNames()
  const door = createDoor(at)
  const gathering = createGathering(() => fleet.restarts())
  const receive = (worker: Worker, message: ToPrimary): void => {
    switch (message.kind) {
      case 'beginning':
        begun.add(worker)
        return sendTo(worker, { kind: 'begin', policy: policies.toBegin, overrides: overrides.list(), names })
      case 'listen':
        return void door.open().then((opened) => sendTo(worker, { kind: 'listening', ...opened }))
      case 'serving':
        serving.add(worker)
        // It may have begun after the others were sent the stop.
        return stopping ? sendTo(worker, { kind: 'stop' }) : door.add(worker)
      case 'taken':
        return door.taken(worker)
      case 'policy':
        return policies.add(worker, message.policy)
      case 'override':
        overrides.change(message.change)
        for (const other of begun) if (other !== worker) sendTo(other, message)
        return
      case 'gather':
        return gathering.gather(worker, message.id, message.name, [...serving], count)
      case 'reported':
        return gathering.reported(worker, message.id, message.report)
      case 'repeated':
        return repeated(message.what, message.times)
    }
  }
  const isReplaced = (worker: Worker): boolean => {
    const served = serving.delete(worker)
    begun.delete(worker)
    gathering.ended(worker)
    return !stopping && (served || worker.id !== 1)
  }
  const fleet = createFleet(receive, door.remove, isReplaced)
  process.on('SIGHUP', () => fleet.signal('SIGHUP'))
  const stopped = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
  const first = fleet.start()
  await Promise.race([servesOrFails(first), stopped])
  if (first.isConnected()) for (let more = 1; more < count; more += 1) fleet.start()
  await stopped
  stopping = true
  const gone = fleet.stop(serving)
  // Clients that wait for a response make no new connection meanwhile.
  for (const worker of serving) sendTo(worker, { kind: 'pause' })
  await door.close()
  for (const worker of serving) sendTo(worker, { kind: 'stop' })
  await gone
}

/**
 * The processes of a service.
 * @param isReplaced called when a worker has ended
 * @param closed called later, when everything that the worker sent has been received
 */
function createFleet(
  receive: (worker: Worker, message: ToPrimary) => void,
  closed: (worker: Worker) => void,
  isReplaced: (worker: Worker) => boolean,
) {
  let [restarts, quickly] = [0, 0]
  let replacing = true
  const workers = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
  const signal = (name: NodeJS.Signals): void => workers().forEach((worker) => worker.process.kill(name))
  const replace = (): void => {
    if (!replacing) return
    restarts += 1
    start()
  }
  const start = (): Worker => {
    const started = performance.now()
    const worker = cluster.fork()
    // A broken channel: the worker's exit follows, and is handled there.
    worker.on('error', () => {})
    worker.once('exit', (code, by) => {
      if (!isReplaced(worker)) return
      quickly = performance.now() - started < STEADY_MS ? quickly + 1 : 1
      const pause = Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** (quickly - 1))
      const how = by === null || by === '' ? `with ${code}` : `by ${by}`
      process.stderr.write(`sluice: worker ${worker.process.pid} ended ${how}; another begins in ${pause / 1_000} s\n`)
      setTimeout(replace, pause)
    })
    worker.process.once('close', () => closed(worker))
    worker.on('message', (message: ToPrimary) => receive(worker, message))
    return worker
  }
  return {
    restarts: () => restarts,
    start,
    signal,
    /** Ends all but `later` at once, and kills what is left after ten seconds. Resolves when all have ended. */
    stop(later: ReadonlySet<Worker>) {
      replacing = false
      const gone = workers().map((worker) => new Promise<void>((resolve) => worker.once('exit', () => resolve())))
      for (const worker of workers()) if (!later.has(worker)) worker.process.kill('SIGTERM')
      setTimeout(() => signal('SIGKILL'), LAST_MS).unref()
      return Promise.all(gone)
    },
  }
}

/** Waits until one worker serves or fails: one worker, and not all of them, reports a port in use or an unreachable store. */
function servesOrFails(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on('message', ({ kind }: ToPrimary) => (kind === 'serving' ? resolve() : undefined))
    // It has already printed the reason.
    worker.once('exit', (code) => reject(new CommandFailure(code ?? EXIT.failed, '')))
  })
}
