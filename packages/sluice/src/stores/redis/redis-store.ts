import { LimiterError } from '../../errors/limiter-error.ts'
import { ANY, checkOptions, CLOCK, COUNT, type Form, OBJECT, oneOf } from '../../errors/options.ts'
import { systemRandom, systemSecret, systemTime } from '../../time/system.ts'
import type { Time } from '../../time/time.ts'
import { type BatchState, batchOf } from '../batch/batch.ts'
import { InvalidReply, replay, validated } from '../batch/replay.ts'
import { withoutShares } from '../by-shares.ts'
import { plannedGroups } from '../group-options.ts'
import { hasShares, REGION_MS } from '../region-port.ts'
import { type BySwap, programsOrSwap } from '../families/programs-or-swap.ts'
import { compareAndSwapStore } from '../families/compare-and-swap.ts'
import { createRemoteCalls } from '../remote-calls.ts'
import { type CallGroup, type CallOptions, type LeaseAnswer, type StateId, type Store } from '../store.ts'
import { changing, FORGET, isProgrammed, marking, type SendProgram } from './changes.ts'
import { classify } from './failures.ts'
import { consumeRequest, hasProgram, requestOf } from './encode.ts'
import { calledOf, hasLog, type Layout, packedLayout, plainLayout } from './layout.ts'
import { leaseArgument, replayLeases } from './leases.ts'
import { createNewKeys, KEPT, type NewKeys, type NewKeysOptions } from './packed/new-keys.ts'
import { withOverflow } from './packed/overflow.ts'
import { createPacking, type PackingOptions } from './packed/packing.ts'
import { bucketsProgram, leaseProgram, reserveProgram, saltProgram } from './programs.gen.ts'
import { type RedisPort, validPort } from './clients/redis-port.ts'
import { changeGuarded, createSendGuarded, type Decide, decideGuarded, type SendBatch } from './region-decide.ts'
import { regionKeys, regionPort, type SendKeys } from './region-programs.ts'
import { foundState, readReply } from './reply.ts'
import { programRunner } from './run-program.ts'
import { spreading } from './packed/salt.ts'
import { watchSilence } from './silence.ts'
import { bySlot } from './slots.ts'
import { swapBackend } from './swap.ts'

/** `redisStore` adds the options of the ring. */
export interface BareRedisOptions extends NewKeysOptions {
  /** What `ioredis(client)`, `nodeRedis(client)` or `valkeyGlide(client)` returns. The caller closes the client. */
  readonly client: RedisPort
  /** Prefix of every key; default `sluice:`. */
  readonly prefix?: string | undefined
  /**
   * `plain` (default): a string for each state. `packed`: small hashes with many states each, which take a sixth of the memory for millions
   * of keys, but allow no leases. All processes must use the same layout.
   */
  readonly layout?: 'plain' | 'packed' | undefined
  /** Options of the packed layout. */
  readonly packing?: PackingOptions | undefined
  /** The most calls in flight, with those abandoned at their deadline; default 10,000. Further calls are refused at once. */
  readonly maxInFlight?: number | undefined
  /** The clock for deadlines, pauses, `maxNewKeys` and cached denials. Decisions use the server's clock. */
  readonly clock?: Time | undefined
}

export const REDIS_FORMS: Readonly<Record<string, Form>> = {
  client: ANY,
  prefix: [(value) => typeof value === 'string' && /^[!-z|~]*$/.test(value), 'printable ASCII, no braces or blanks'],
  layout: oneOf('plain', 'packed'),
  packing: OBJECT,
  maxNewKeys: COUNT,
  onFull: oneOf('allow', 'deny', 'shared'),
  maxInFlight: COUNT,
  clock: CLOCK,
}

const NONE: ReadonlySet<BatchState> = new Set()
const CHANGES = ['adjust', 'release', 'settle', 'extend', 'block', 'unblock', 'reset'] as const

/** Shares of a region are not leased. */
const NO_LEASE: LeaseAnswer = {
  granted: 0,
  at: 0,
  verdict: { outcome: 'allowed', retryAfter: 0, remaining: 0, replenishAfter: 0, resetAfter: 0 },
}

/** No limiter has this state, because no limiter's scope is empty. */
const NOBODY: StateId = { scope: { text: '' }, key: '' }

/**
 * Keeps states in Redis (7 or later) or Valkey. On a Cluster, a group over several slots is decided slot by slot (see `bySlot`).
 * @throws LimiterError INVALID_OPTIONS for an unknown option, a client without its adapter, or a prefix with braces or blanks
 */
export function bareRedisStore(options: BareRedisOptions): Store {
  checkOptions('redisStore', options, REDIS_FORMS)
  const { prefix = 'sluice:', maxInFlight = 10_000, clock = systemTime } = options
  const client = validPort('redisStore', options.client)
  const calls = createRemoteCalls('redis', clock, { maxInFlight, opening: client.opening })
  const layout = layoutOf(options, prefix)
  const newKeys = options.maxNewKeys === undefined ? undefined : createNewKeys(options.maxNewKeys, clock)
  const extra = newKeys === undefined ? 0 : KEPT

  const run = programRunner(client, watchSilence(client, clock, systemRandom))
  const lateFor = (callOptions: CallOptions | undefined) => (): boolean =>
    callOptions?.deadline !== undefined && clock.monotonic() >= callOptions.deadline
  const send: SendProgram = (program, states, numbers, callOptions) => {
    const { keys, args } = layout.addressesOf(states)
    // The arguments of buckets.lua and reserve.lua have `extra` already.
    const isTold = program === bucketsProgram || program === reserveProgram
    const all = extra === 0 || isTold ? [...numbers, ...args] : [...numbers, args[0] ?? '', extra]
    return calls.run(run(program, keys, all, lateFor(callOptions)), callOptions, classify)
  }
  const sendKeys: SendKeys = (program, keys, args, callOptions = { deadline: clock.monotonic() + REGION_MS }) =>
    calls.run(run(program, keys, args, lateFor(callOptions)), callOptions, classify)
  const keys = regionKeys(prefix)
  const sendGuarded = createSendGuarded(sendKeys, keys, (states) => layout.addressesOf(states).keys)

  const why = client.cluster === true ? 'on a Cluster' : layout.packed ? 'with the packed layout' : 'with maxNewKeys'
  const regions = client.cluster === true || layout.packed || newKeys !== undefined ? why : regionPort(sendKeys, keys)
  const programs = (bySwap: BySwap): Store => {
    const byShares = (groups: readonly CallGroup[]): Store['decide'] | undefined =>
      groups.some((group) => hasShares(group.calls)) ? guarded : undefined
    const decide = createDecide(layout, newKeys, send, (groups) => bySwap(groups) ?? byShares(groups))
    const guarded = decideGuarded(decide, sendGuarded)
    return {
      name: 'redis',
      capabilities: { clock: 'server', atomicBatch: 'any', changes: CHANGES, groupOptions: ['maxWait', 'hold'], sync: false, regions },
      decide,
      change: changeGuarded(changing(send), sendGuarded),
      // A bucket with leases is long: Redis would convert its hash to a larger form for good.
      ...(layout.packed ? {} : { lease: leasing(send) }),
      // Loads the programs. `marking` deletes nothing, but fails on a read-only server, where the others succeed.
      ready: async (callOptions) => {
        await client.untilConnected?.(callOptions, clock)
        await marking(send, [NOBODY], FORGET, callOptions)
        const peeked = decide([], { ...callOptions, charge: false })
        await Promise.all([peeked, ...(layout.packed ? [] : [send(bucketsProgram, [], [1, 1, 1, 1, 0], callOptions)])])
      },
      close: async () => {},
    }
  }
  const swap = withoutShares(compareAndSwapStore(swapBackend(send, newKeys), { clock, random: systemRandom }))
  const store = programsOrSwap(programs, swap, hasProgram, isProgrammed)
  const whole = client.cluster === true ? bySlot(store, layout.slotOf, client.nodeOf) : store
  if (newKeys === undefined) return whole
  const spread = spreading(prefix, systemSecret, (key, offered, callOptions) =>
    calls.run(run(saltProgram, [key], [offered], lateFor(callOptions)), callOptions, classify),
  )
  return withOverflow(whole, options.onFull, newKeys.closed, spread, clock)
}

function leasing(send: SendProgram): Required<Store>['lease'] {
  return async (requests, callOptions) => {
    if (requests.length === 0) return []
    if (hasShares(requests.map(({ call }) => call))) return requests.map(() => NO_LEASE)
    const states = requests.map(({ call }) => calledOf(call))
    const reply = await send(leaseProgram, states, [leaseArgument(requests, callOptions?.now ?? 0)], callOptions)
    return validated('redis: the program', reply, () => replayLeases(requests, reply))
  }
}

/**
 * The server's program reads, charges and writes the states, and returns them as it found them. From these this process computes the same
 * verdicts.
 * @param otherwise returns another `decide` if this one cannot decide the groups: those of an algorithm without a program, or of regions
 */
function createDecide(
  { packed }: Layout,
  newKeys: NewKeys | undefined,
  sendAlone: SendBatch,
  otherwise: (groups: readonly CallGroup[]) => Store['decide'] | undefined,
): Decide {
  const extra = newKeys === undefined ? 0 : KEPT
  return async (wanted, callOptions = {}, guarded) => {
    // `lists.map(store.decide)` passes an array as third argument.
    const isGuarded = typeof guarded === 'function'
    const other = isGuarded ? undefined : otherwise(wanted)
    if (other !== undefined) return other(wanted, callOptions)
    const send = isGuarded ? guarded : sendAlone
    const groups = plannedGroups(wanted)
    const charge = callOptions.charge !== false
    const batch = batchOf(groups, hasLog)
    const closed = newKeys?.closedAmong(batch.states) ?? NONE
    let request = requestOf(batch, callOptions, !packed, closed, extra)
    let reply = await send(request.program, request.states, request.args, callOptions)
    // reserve.lua has changed nothing, because a record was there already.
    if (reply === null) {
      request = consumeRequest(batch, callOptions, closed)
      reply = await send(request.program, request.states, request.args, callOptions)
    }
    const { states } = request
    return validated('redis: the program', reply, () => {
      const { now, next, values, isPassed } = readReply(reply, states.length, batch.entries.length)
      const found = states.map((state, index) =>
        foundState(state, values[index] as Uint8Array | null, closed.size > 0 && closed.has(state)),
      )
      const verdicts = replay(groups, batch, { now, next, states: found }, charge)
      if (!isPassed(batch.entries)) throw new InvalidReply()
      if (charge && newKeys !== undefined) {
        const made = states.filter((_, index) => found[index]?.missing === true && found[index].passed === true)
        newKeys.made(made.map(({ first }) => first.id.scope.text))
      }
      return verdicts
    })
  }
}

/** @throws LimiterError INVALID_OPTIONS for `packing` without the packed layout */
function layoutOf({ layout = 'plain', packing }: BareRedisOptions, prefix: string): Layout {
  if (layout === 'packed') return packedLayout(prefix, createPacking(prefix, packing ?? {}))
  if (packing === undefined) return plainLayout(prefix)
  throw new LimiterError('INVALID_OPTIONS', "redisStore: packing is an option of the layout 'packed'")
}
