import type { Log } from './log.ts'

interface State {
  readonly state: 'store' | 'breaker'
  readonly store: string
  /** The server of a breaker, if the store has several. */
  readonly server?: string
}

export type StateChange = State &
  (
    | { readonly is: 'lost'; readonly kind: string; readonly reason: string }
    /** `calls`: decisions made without the store. `agoMs`: milliseconds since the state ended. */
    | { readonly is: 'back'; readonly calls: number; readonly agoMs: number }
  )

type Lost = StateChange & { readonly is: 'lost' }

interface Lasting {
  readonly change: Lost
  readonly since: number
  /** The processes that are in this state. */
  readonly processes: Set<unknown>
  calls: number
}

const CANNOT = 'cannot be reached'
const DOES: Readonly<Record<string, string>> = {
  readonly: 'cannot be written',
  setup: 'refuses this service',
  protocol: 'gives answers that make no sense',
}

/**
 * One line when the first process loses its store or opens a breaker, another when no process is in that state.
 * @param now monotonic, in milliseconds
 */
export function createStates(log: Log, now: () => number) {
  const lasting = new Map<string, Lasting>()
  const leave = (id: string, process: unknown, calls: number, agoMs: number): void => {
    const found = lasting.get(id)
    if (found?.processes.delete(process) !== true) return
    found.calls += calls
    if (found.processes.size > 0) return
    lasting.delete(id)
    writeBack(log, found, now() - found.since - agoMs)
  }
  return {
    changed(process: unknown, change: StateChange) {
      const { state, store, server = '' } = change
      const id = JSON.stringify([state, store, server])
      if (change.is === 'back') return leave(id, process, change.calls, change.agoMs)
      const found = lasting.get(id)
      if (found !== undefined) return void found.processes.add(process)
      lasting.set(id, { change, since: now(), processes: new Set([process]), calls: 0 })
      writeLost(log, change)
    },
    /** A process that replaces this one reports its own states. */
    ended(process: unknown) {
      for (const id of lasting.keys()) leave(id, process, 0, 0)
    },
  }
}

function writeLost(log: Log, { state, store, server, kind, reason }: Lost): void {
  const fields = { store, ...(server === undefined ? {} : { server }), kind, reason }
  if (state === 'store')
    return log('warn', 'store-lost', `store ${store} ${DOES[kind] ?? CANNOT}: ${reason}; serving without it, and trying again`, fields)
  log(
    'warn',
    'breaker-open',
    `the breaker of ${placeOf(store, server)} opened: ${reason}; calls are refused until a probe succeeds`,
    fields,
  )
}

function writeBack(log: Log, { change: { state, store, server }, calls }: Lasting, ms: number): void {
  const afterMs = Math.max(0, Math.round(ms))
  const after = `after ${afterMs / 1_000} s`
  if (state === 'store') {
    const without = `${calls} ${calls === 1 ? 'decision was' : 'decisions were'} made without it`
    return log('info', 'store-back', `store ${store} is back ${after}; ${without}`, { store, afterMs, calls })
  }
  const fields = { store, ...(server === undefined ? {} : { server }), afterMs }
  log('info', 'breaker-closed', `the breaker of ${placeOf(store, server)} closed ${after}`, fields)
}

function placeOf(store: string, server: string | undefined): string {
  return server === undefined ? `store ${store}` : `server ${server} of store ${store}`
}
