import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { CommandFailure, EXIT } from '../cli/failure.ts'
import type { ListenAt } from '../http/port.ts'
import { draining } from '../logs/draining.ts'
import type { Log, LogEntry, Logs } from '../logs/log.ts'
import type { CountRepeated } from '../logs/repeated-lines.ts'
import { createStates } from '../logs/states.ts'
import { createDoor, type Door } from './door.ts'
import { createGathering } from './gathering.ts'
import { createHangups } from './hangups.ts'
import { ignoreUnknown, unknownKind } from './ignore-unknown.ts'
import { randomNames, sendTo, type ToPrimary } from './messages.ts'
import { createOverrideOrder, createPolicyOrder } from './shared-state.ts'

/** Milliseconds before an ended worker is replaced. Each worker in a row that ends within STEADY_MS of its start doubles the pause. */
const MIN_PAUSE_MS = 100
const MAX_PAUSE_MS = 5_000
const STEADY_MS = 10_000
/** Milliseconds until stopping workers are killed: up to six seconds to close the port, four for responses, half of one for the store. */
const LAST_MS = 10_500
const STOPS = ['SIGTERM', 'SIGINT'] as const

/**
 * A worker that ends is replaced. But if the first ends before it has served, the command ends with the worker's exit code.
 * @param repeated counts events of all workers, and writes one line for all
 * @param store URL; workers get it by their environment, because the arguments of a process are public
 */
export async function supervise(count: number, at: ListenAt, log: Log, repeated: CountRepeated, store: string | undefined): Promise<void> {
  let stopping = false
  /** `begun`: workers that get changes of policy and overrides. `serving`: those of them that answer requests. */
  const [begun, serving] = [new Set<Worker>(), new Set<Worker>()]
  const [policies, overrides] = [createPolicyOrder(begun, sendTo), createOverrideOrder(begun, sendTo, Date.now)]
  const [door, gathering] = [createDoor(at), createGathering(() => fleet.restarts())]
  const [states, names] = [createStates(log, () => performance.now()), randomNames()]
  const receive = (message: ToPrimary, worker: Worker): void => {
    switch (message.kind) {
      case 'beginning':
        begun.add(worker)
        return sendTo(worker, { kind: 'begin', ...policies.toBegin(worker), overrides: overrides.list(), names })
      case 'listen':
        return void door.open().then((opened) => sendTo(worker, { kind: 'listening', ...opened }))
      case 'serving':
        serving.add(worker)
        policies.serves(message.read)
        hangups.serves(worker)
        // A worker may begin to serve after the others were stopped.
        return stopping ? sendTo(worker, { kind: 'stop' }) : door.add(worker)
      case 'taken':
        return door.taken(worker)
      case 'policy':
        return policies.add(worker, message.policy)
      case 'overrides': {
        const { removed, isShared } = overrides.add(worker, message.changes, message.target)
        return gathering.gather(worker, message.id, 'barrier', isShared ? [...serving] : [worker], count, [removed])
      }
      case 'gather':
        return gathering.gather(worker, message.id, message.name, [...serving], count)
      case 'reported':
        return gathering.reported(worker, message.id, message.report)
      case 'repeated':
        return repeated(message.what, message.times)
      case 'state':
        return states.changed(worker, message.change)
      case 'line':
        return writeLine(log, worker, message.from, message.entry)
      default:
        return unknownKind(message)
    }
  }
  const isReplaced = (worker: Worker): boolean => {
    const served = serving.delete(worker)
    begun.delete(worker)
    gathering.ended(worker)
    if (!stopping) states.ended(worker)
    policies.ended(worker, !served && serving.size === 0)
    return !stopping && (served || worker.id !== 1)
  }
  const fleet = createFleet(store, ignoreUnknown(receive, log), door.remove, isReplaced, log)
  const hangups = createHangups(fleet.workers, serving)
  process.on('SIGHUP', hangups.hangUp)
  const stopped = Promise.race(STOPS.map((signal) => once(process, signal).then(() => signal)))
  const first = fleet.start()
  await Promise.race([servesOrFails(first), stopped])
  if (first.isConnected()) for (let more = 1; more < count; more += 1) fleet.start()
  const ended = draining(log, await stopped)
  stopping = true
  await stopAll(fleet, door, serving)
  ended()
}

/** Workers in `serving` finish the responses under way first. */
async function stopAll(fleet: Fleet, door: Door, serving: ReadonlySet<Worker>): Promise<void> {
  const gone = fleet.stop(serving)
  // Paused workers hold back responses, so waiting clients open no new connections while the port is being closed.
  for (const worker of serving) sendTo(worker, { kind: 'pause' })
  await door.close()
  for (const worker of serving) sendTo(worker, { kind: 'stop' })
  await gone
}

/** If every worker reports the same (`shared`), only the oldest worker's line is written. */
function writeLine(log: Log, { id, process: { pid = 0 } }: Worker, from: keyof Logs, [level, event, message, fields]: LogEntry): void {
  const ids = Object.values(cluster.workers ?? {}).map((worker) => worker?.id ?? Infinity)
  if (from === 'shared' && id > Math.min(...ids)) return
  if (from === 'own') log(level, event, `worker ${pid}: ${message}`, { ...fields, worker: pid })
  else log(level, event, message, fields)
}

/** Also removes the values of the flags. */
function withoutValues(args: readonly string[], flags: readonly string[]): string[] {
  const end = args.includes('--') ? args.indexOf('--') : args.length
  return args.filter((text, index) => {
    if (index >= end) return true
    const isValue = index > 0 && flags.includes(args[index - 1] as string)
    return !isValue && !flags.some((flag) => text === flag || text.startsWith(`${flag}=`))
  })
}

type Fleet = ReturnType<typeof createFleet>

/**
 * @param isReplaced called when a worker has ended; returns whether to start another
 * @param closed called later, when everything that the worker sent has been received
 */
function createFleet(
  store: string | undefined,
  receive: (message: ToPrimary, worker: Worker) => void,
  closed: (worker: Worker) => void,
  isReplaced: (worker: Worker) => boolean,
  log: Log,
) {
  cluster.setupPrimary({ args: withoutValues(process.argv.slice(2), ['--store', '--store-file']) })
  const environment = store === undefined ? {} : { SLUICE_STORE: store, SLUICE_STORE_FILE: '' }
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
    const worker = cluster.fork(environment)
    // The worker's exit follows a broken channel, and is handled below.
    worker.on('error', () => {})
    worker.once('exit', (code, by) => {
      if (!isReplaced(worker)) return
      quickly = performance.now() - started < STEADY_MS ? quickly + 1 : 1
      const pause = Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** (quickly - 1))
      const how = by === null || by === '' ? `with ${code}` : `by ${by}`
      const { pid = 0 } = worker.process
      log('error', 'worker-ended', `worker ${pid} ended ${how}; another begins in ${pause / 1_000} s`, { worker: pid, restartInMs: pause })
      setTimeout(replace, pause)
    })
    worker.process.once('close', () => closed(worker))
    worker.on('message', (message: ToPrimary) => receive(message, worker))
    return worker
  }
  return {
    restarts: () => restarts,
    start,
    workers,
    /** The caller stops the workers in `later` by messages. */
    stop(later: ReadonlySet<Worker>) {
      replacing = false
      const gone = workers().map((worker) => new Promise<void>((resolve) => worker.once('exit', () => resolve())))
      for (const worker of workers()) if (!later.has(worker)) worker.process.kill('SIGTERM')
      setTimeout(() => signal('SIGKILL'), LAST_MS).unref()
      return Promise.all(gone)
    },
  }
}

/** The others start later, so that only one reports a port in use or an unreachable store. */
function servesOrFails(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on('message', ({ kind }: ToPrimary) => (kind === 'serving' ? resolve() : undefined))
    // The worker has already printed the reason.
    worker.once('exit', (code) => reject(new CommandFailure(code ?? EXIT.failed, '')))
  })
}
