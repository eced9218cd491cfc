import { LimiterError } from '../../errors/limiter-error.ts'
import { ANY, checkOptions, CLOCK, COUNT, type Form, OBJECT, oneOf } from '../../errors/options.ts'
import { systemRandom, systemSecret, systemTime } from '../../time/system.ts'
import type { Time } from '../../time/time.ts'
import { createRemoteCalls } from '../remote-calls.ts'
import {
  type CallGroup,
  type CallOptions,
  type GroupVerdict,
  type LeaseAnswer,
  type LeaseRequest,
  type StateId,
  type Store,
  StoreFailure,
} from '../store.ts'
import { classify } from './failures.ts'
import { keySlot } from './key-slot.ts'
import { calledOf, type Layout, type Named, namedOf, packedLayout, plainLayout } from './layout.ts'
import { leaseArgument, replayLeases } from './leases.ts'
import { createNewKeys, KEPT, type NewKeysOptions } from './new-keys.ts'
import { withOverflow } from './overflow.ts'
import { createPacking, type PackingOptions } from './packing.ts'
import { adjustProgram, blockProgram, bucketsProgram, leaseProgram, type Program, saltProgram } from './programs.gen.ts'
import { adjustment, questionOf } from './question.ts'
import { type RedisPort, validPort } from './redis-port.ts'
import { replay } from './replay.ts'
import { programRunner } from './run-program.ts'
import { spreading } from './salt.ts'
import { replacingSilent } from './silence.ts'
import { bySlot } from './slots.ts'

export interface RedisStoreOptions extends NewKeysOptions {
  readonly client: RedisPort
  /** Put before every key; default `sluice:`. */
  readonly prefix?: string
  /**
   * `plain` (default): a string for each state. `packed`: many states in small hashes, under digests of their names, for millions of
   * keys in a sixth of the memory; without leases. Logs are strings in both. Processes that share states have one layout.
   */
  readonly layout?: 'plain' | 'packed'
  /** Of the packed layout. */
  readonly packing?: PackingOptions
  /** Calls under way at once, abandoned ones included; further ones are refused at once. Default 10,000. */
  readonly maxInFlight?: number
  /** Source of deadlines only: decisions are made on the server's clock. */
  readonly clock?: Time
}

const FORMS: Readonly<Record<string, Form>> = {
  client: ANY,
  prefix: [(value) => typeof value === 'string' && /^[!-z|~]*$/.test(value), 'printable ASCII, no braces or blanks'],
  layout: oneOf('plain', 'packed'),
  packing: OBJECT,
  maxNewKeys: COUNT,
  onFull: oneOf('allow', 'deny', 'shared'),
  maxInFlight: COUNT,
  clock: CLOCK,
}

/** No limiter's scope is empty. */
const NOBODY: StateId = { scope: { text: '' }, key: '' }
/** What block.lua takes for the wish to forget. */
const FORGET = -1

/**
 * States in Redis (7 or later, or Valkey), decided by one program in one round trip on the server's clock: exact under any
 * number of processes. One string key per state, or a member of a hash, alive until the state is as fresh as none. On a Cluster a group whose states
 * lie in one slot is one call, and one over several slots is asked slot by slot (see `bySlot`).
 * @throws LimiterError INVALID_OPTIONS for an unknown option, a client without its adapter, or a prefix with braces or blanks
 */
export function redisStore(options: RedisStoreOptions): Store {
  checkOptions('redisStore', options, FORMS)
  const { prefix = 'sluice:', maxInFlight = 10_000, clock = systemTime } = options
  const client = replacingSilent(validPort('redisStore', options.client), clock, systemRandom)
  const calls = createRemoteCalls('redis', clock, { maxInFlight, opening: client.opening })
  const layout = layoutOf(options, prefix)
  const newKeys = createNewKeys(options, clock)
  const extra = options.maxNewKeys === undefined ? 0 : KEPT

  const run = programRunner(client)
  const ask = (
    program: Program,
    states: readonly Named[],
    numbers: readonly (string | number)[],
    callOptions: CallOptions | undefined,
  ): Promise<unknown> => {
    const { keys, args } = layout.addressesOf(states)
    // Its own argument says how long states are kept.
    const all = extra === 0 || program === bucketsProgram ? [...numbers, ...args] : [...numbers, args[0] ?? '', extra]
    const late = (): boolean => callOptions?.deadline !== undefined && clock.monotonic() >= callOptions.deadline
    return calls.run(() => run(program, keys, all, late), callOptions, classify)
  }
  const decide = async (
    groups: readonly CallGroup[],
    callOptions: CallOptions | undefined,
    charge: boolean,
  ): Promise<readonly GroupVerdict[]> => {
    const question = questionOf(groups, callOptions, charge, layout.packed, newKeys.closed, extra)
    const reply = await ask(question.program, question.states, question.args, callOptions)
    // Where keys are counted the next question needs what this answer says.
    if (options.maxNewKeys === undefined) callOptions?.heard?.()
    const verdicts = replay(groups, question, reply, !charge)
    if (verdicts === undefined) throw nonsense(reply)
    if (charge) newKeys.made(question.states)
    return verdicts
  }

  const mark = async (ids: readonly StateId[], length: number, callOptions: CallOptions | undefined): Promise<void> => {
    if (ids.length > 0) await ask(blockProgram, ids.map(namedOf), [`[${callOptions?.now ?? 0},${length}]`], callOptions)
  }
  const lease = async (requests: readonly LeaseRequest[], callOptions?: CallOptions): Promise<readonly LeaseAnswer[]> => {
    if (requests.length === 0) return []
    const states = requests.map(({ call }) => calledOf(call))
    const reply = await ask(leaseProgram, states, [leaseArgument(requests, callOptions?.now ?? 0)], callOptions)
    return replayLeases(requests, reply) ?? Promise.reject(nonsense(reply))
  }

  const store: Store = {
    name: 'redis',
    capabilities: { clock: 'server', atomicBatch: 'any', sync: false },
    consume: (groups, callOptions) => decide(groups, callOptions, true),
    peek: (groups, callOptions) => decide(groups, callOptions, false),
    adjust: async (asked, amounts, callOptions) => {
      if (asked.length === 0) return
      await ask(adjustProgram, asked.map(calledOf), [adjustment(asked, amounts, callOptions)], callOptions)
    },
    // A leased bucket's value is long: it would make the hash large for good.
    ...(layout.packed ? {} : { lease }),
    block: (ids, duration, callOptions) => mark(ids, duration ?? 0, callOptions),
    reset: (ids, callOptions) => mark(ids, FORGET, callOptions),
    // The programs are there afterwards: else the first calls of many callers would each send the whole text. Only what removes fails where nothing may be written.
    ready: async (callOptions) => {
      await client.untilConnected?.(callOptions, clock)
      await mark([NOBODY], FORGET, callOptions)
      await Promise.all([decide([], callOptions, false), ...(layout.packed ? [] : [ask(bucketsProgram, [], [1, 1, 1, 1, 0], callOptions)])])
    },
    close: async () => {},
  }
  const whole = client.cluster === true ? bySlot(store, (id) => keySlot(layout.addressesOf([namedOf(id)]).keys[0] as string)) : store
  if (options.maxNewKeys === undefined) return whole
  const spread = spreading(prefix, systemSecret, (key, offered, callOptions) => {
    const late = (): boolean => callOptions?.deadline !== undefined && clock.monotonic() >= callOptions.deadline
    return calls.run(() => run(saltProgram, [key], [offered], late), callOptions, classify)
  })
  return withOverflow(whole, options.onFull, newKeys.closed, spread, clock)
}

/** @throws LimiterError INVALID_OPTIONS */
function layoutOf({ layout = 'plain', packing }: RedisStoreOptions, prefix: string): Layout {
  if (layout === 'packed') return packedLayout(prefix, createPacking(prefix, packing ?? {}))
  if (packing === undefined) return plainLayout(prefix)
  throw new LimiterError('INVALID_OPTIONS', "redisStore: packing is an option of the layout 'packed'")
}

function nonsense(reply: unknown): StoreFailure {
  return new StoreFailure('protocol', 'unknown', `redis: the program answered ${JSON.stringify(reply)?.slice(0, 200)}`)
}
