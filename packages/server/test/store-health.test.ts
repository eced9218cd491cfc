import type { DecisionEvent } from 'sluice'
import type { StoreEvent } from 'sluice/observe'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { LogEntry } from '../src/logs/log.ts'
import { createStates, type StateChange } from '../src/logs/states.ts'
import { plainWords } from '../src/stores/plain-words.ts'
import { followStore } from '../src/stores/store-health.ts'

const URL = 'redis://u:secret@db:6379'
const NAME = 'redis://***@db:6379'

describe('plain words of a failure', () => {
  it.each([
    ["redis: Stream isn't writeable and enableOfflineQueue options is false", `the connection to ${NAME} is not open`],
    ['redis: Connection is closed.', `the connection to ${NAME} is not open`],
    ["redis: not called, because it failed (redis: Stream isn't writeable)", `the connection to ${NAME} is not open`],
    ['connect ECONNREFUSED 127.0.0.1:6379', 'nothing listens at 127.0.0.1:6379 (ECONNREFUSED)'],
    ['getaddrinfo ENOTFOUND db', 'the host name db is unknown (ENOTFOUND)'],
    ['getaddrinfo EAI_AGAIN db', 'the name servers do not answer for db (EAI_AGAIN)'],
    [
      "Socket timeout. Expecting data, but didn't receive any in 1000ms.",
      `${NAME} sent nothing for a second, and its connection was closed`,
    ],
    ['read ECONNRESET', `the connection to ${NAME} was closed by the other side`],
    ['postgres: Connection terminated unexpectedly', `the connection to ${NAME} was closed by the other side`],
    ['timeout exceeded when trying to connect', `no connection to ${NAME} could be made in time`],
    ['redis: no answer by the deadline', 'no answer in time'],
    ['redis: no answer by the deadline, and no connection was there', 'no answer in time, because no connection was free'],
    ["NOPERM User u has no permissions to run the 'evalsha' command", "NOPERM User u has no permissions to run the 'evalsha' command"],
    ['odd secret\nmore', 'odd ***'],
  ])('%s', (message, words) => {
    expect(plainWords(message, URL)).toBe(words)
  })
})

function bench() {
  const changes: StateChange[] = []
  const health = followStore(URL, (change) => changes.push(change))
  const call = (failure?: string): void => {
    const event: StoreEvent = { store: 'redis', operation: 'decide', durationMs: 1 }
    health.observer.onStoreCall?.(failure === undefined ? event : { ...event, failure, reason: 'read ECONNRESET' })
    const decision = failure === undefined ? {} : { degraded: { kind: failure } }
    health.observer.onDecision?.({ decision } as DecisionEvent)
  }
  return { changes, health, call, kinds: () => changes.map(({ is }) => is) }
}

describe('O2: a store', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('is lost at the first failed connection, and back a second after the last failure, with the decisions made without it', () => {
    const { call, changes } = bench()
    call()
    for (let nth = 0; nth < 5; nth += 1) call('connection')
    const reason = `the connection to ${NAME} was closed by the other side`
    expect(changes).toEqual([{ state: 'store', store: NAME, is: 'lost', kind: 'connection', reason }])
    call()
    vi.advanceTimersByTime(999)
    expect(changes).toHaveLength(1)
    vi.advanceTimersByTime(1)
    expect(changes[1]).toEqual({ state: 'store', store: NAME, is: 'back', calls: 5, agoMs: 1_000 })
  })

  it('is not back while one of its nodes fails and others answer', () => {
    const { call, kinds } = bench()
    for (let nth = 0; nth < 100; nth += 1) {
      call(nth % 10 === 0 ? 'unavailable' : undefined)
      vi.advanceTimersByTime(90)
    }
    expect(kinds()).toEqual(['lost'])
    vi.advanceTimersByTime(1_000)
    expect(kinds()).toEqual(['lost', 'back'])
  })

  it.each([
    ['a late answer among others', ['timeout', 'timeout', undefined, 'timeout', undefined], []],
    ['three late answers in a row', ['timeout', 'timeout', 'timeout'], ['lost']],
    ['an aborted call, a full queue, a locked row, a full store', ['aborted', 'overload', 'contention', 'memory', 'memory', 'memory'], []],
  ])('counts as lost or not: %s', (_what, failures, expected) => {
    const { call, kinds } = bench()
    for (const failure of failures) call(failure)
    expect(kinds()).toEqual(expected)
  })

  it('is not back while a breaker is open', () => {
    const { call, health, changes, kinds } = bench()
    call('connection')
    health.breakerChanged({ store: 'redis', lane: 'db-2:6379', state: 'open', failure: { kind: 'connection', message: 'EPIPE' } as never })
    expect(changes[1]).toMatchObject({ state: 'breaker', server: 'db-2:6379', is: 'lost', kind: 'connection' })
    call()
    vi.advanceTimersByTime(5_000)
    expect(kinds()).toEqual(['lost', 'lost'])
    health.breakerChanged({ store: 'redis', lane: 'db-2:6379', state: 'half-open' })
    health.breakerChanged({ store: 'redis', lane: 'db-2:6379', state: 'closed' })
    call()
    vi.advanceTimersByTime(1_000)
    expect(changes.slice(2).map(({ state, is }) => [state, is])).toEqual([
      ['breaker', 'back'],
      ['store', 'back'],
    ])
  })
})

describe('O2: the states of several processes', () => {
  const lost = { state: 'store', store: NAME, is: 'lost', kind: 'connection', reason: 'it is away' } as const
  const back = { state: 'store', store: NAME, is: 'back', calls: 3, agoMs: 1_000 } as const
  const states = () => {
    const lines: LogEntry[] = []
    let now = 0
    return {
      lines,
      pass: (ms: number) => (now += ms),
      ...createStates(
        (...entry) => lines.push(entry),
        () => now,
      ),
    }
  }

  it('are one line when the first loses the store, and one when the last has it back, with the sum of decisions', () => {
    const { lines, pass, changed } = states()
    for (const worker of [1, 2, 3]) changed(worker, lost)
    pass(13_500)
    for (const worker of [1, 2]) changed(worker, back)
    expect(lines.map(([level, event]) => [level, event])).toEqual([['warn', 'store-lost']])
    changed(3, back)
    changed(3, back)
    expect(lines.slice(1)).toEqual([
      [
        'info',
        'store-back',
        `store ${NAME} is back after 12.5 s; 9 decisions were made without it`,
        { store: NAME, afterMs: 12_500, calls: 9 },
      ],
    ])
    expect(lines[0]?.[2]).toBe(`store ${NAME} cannot be reached: it is away; serving without it, and trying again`)
  })

  it('end with the last process that was in them', () => {
    const { lines, changed, ended } = states()
    changed(1, lost)
    changed(1, { ...lost, state: 'breaker', server: 'a:1' })
    ended(2)
    expect(lines).toHaveLength(2)
    ended(1)
    expect(lines.map(([, event]) => event)).toEqual(['store-lost', 'breaker-open', 'store-back', 'breaker-closed'])
    changed(2, back)
    expect(lines).toHaveLength(4)
  })

  it.each([
    ['readonly', 'cannot be written'],
    ['setup', 'refuses this service'],
    ['protocol', 'gives answers that make no sense'],
  ])('say what a store does that fails as %s', (kind, does) => {
    const { lines, changed } = states()
    changed(1, { ...lost, kind })
    expect(lines[0]?.[2]).toContain(`store ${NAME} ${does}: it is away`)
  })
})
