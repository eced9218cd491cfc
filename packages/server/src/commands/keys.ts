import { parseDuration, type KeyState, type KeyTarget } from 'sluice/policy'
import { argumentOf, type CommandFailure, usage } from '../cli/failure.ts'
import type { Io } from '../cli/io.ts'
import { DEFAULT_URL } from '../cli/service-calls.ts'
import { storeFlags, storeUrlOf } from '../cli/store-flags.ts'
import { JSON_FLAG, type ParsedArguments, print, type Verb } from '../cli/verb.ts'
import { POLICY_FLAGS, policyPlace } from '../policy/policy-place.ts'
import { serviceKeys } from './keys/service-keys.ts'
import { type KeyAccess, storeKeys } from './keys/store-keys.ts'

const FLAGS = {
  'url URL': `a running service, default ${DEFAULT_URL}`,
  'token-file FILE': "the service's token of administration",
  ...storeFlags('instead of a service, the store itself: redis://..., postgres://..., pglite:DIR'),
  'policy FILE': 'the policy whose limits are meant; needed with --store',
  ...POLICY_FLAGS,
  'limit NAME': 'one rule; default every rule that has a key',
  json: JSON_FLAG,
}
const STORE = '--store redis://127.0.0.1:6379 --policy policy.yaml'

export const keyVerbs: readonly Verb[] = [
  {
    name: 'inspect',
    words: ['KEY'],
    does: 'what is left of a key under every rule that has one, in a running service or in a store; charges nothing',
    flags: FLAGS,
    examples: ['inspect user:42 --token-file ./token', `inspect user:42 ${STORE}`],
    async run(args, io) {
      const target = targetOf(args)
      await using keys = await keysOf('inspect', args, io)
      const states = await keys.inspect(target)
      print(io, args, { key: target.key, source: keys.name, states }, () => [
        `${JSON.stringify(target.key)} in ${keys.name}:${states.length === 0 ? ' no rule has a key' : ''}`,
        ...states.flatMap(stateText),
      ])
    },
  },
  changing({
    name: 'reset',
    words: ['KEY'],
    does: 'forgets what a key has used, so that its next request finds it fresh; a block stays',
    examples: ['reset user:42 --token-file ./token', `reset user:42 --limit per-key ${STORE}`],
    change: () => ({ now: 'is fresh' }),
  }),
  changing({
    name: 'block',
    words: ['KEY', 'DURATION'],
    does: 'denies a key for a while whatever is left of its limits; DURATION is such as 30s, 15m or 1d',
    examples: ['block user:42 15m --token-file ./token', `block user:42 1d ${STORE}`],
    change([, duration = '']) {
      const blockedForMs = argumentOf('block', () => Math.ceil(parseDuration(duration) / 1_000))
      return { blockedForMs, now: `is blocked for ${blockedForMs} ms` }
    },
  }),
  changing({
    name: 'unblock',
    words: ['KEY'],
    does: 'lifts the block of a key',
    examples: ['unblock user:42 --token-file ./token', `unblock user:42 ${STORE}`],
    change: () => ({ blockedForMs: null, now: 'is not blocked' }),
  }),
]

interface KeyChange {
  /** Milliseconds of the block; null: the block was lifted; undefined: the key's states were deleted. */
  readonly blockedForMs?: number | null
  readonly now: string
}
type ChangingVerb = Omit<Verb, 'flags' | 'run'> & { change(words: readonly string[]): KeyChange }

function changing({ change, ...verb }: ChangingVerb): Verb {
  return {
    ...verb,
    flags: FLAGS,
    async run(args, io) {
      const { blockedForMs, now } = change(args.words)
      const target = targetOf(args)
      const rules = target.limit === undefined ? 'under every rule that has a key' : `under ${target.limit}`
      await using keys = await keysOf(verb.name, args, io)
      await (blockedForMs === undefined ? keys.reset(target) : keys.block(target, blockedForMs))
      const text = `${JSON.stringify(target.key)} ${now} ${rules} in ${keys.name}`
      print(io, args, { ...target, source: keys.name, blockedForMs, done: verb.name }, () => [text])
    },
  }
}

/**
 * If a flag names the service or the store, variables that name the other are ignored: they may be set for a service in the same container.
 * @throws CommandFailure exit 3 for arguments that contradict each other, exit 2 if the store cannot be reached
 */
async function keysOf(verb: string, args: ParsedArguments, io: Io): Promise<KeyAccess> {
  const [url, token, policy] = ['url', 'token-file', 'policy'].map((name) => args.text(name))
  const wrong = (mistake: string): CommandFailure => usage(`${verb}: ${mistake}`)
  const byFlag = (...names: string[]): boolean => names.some((name) => args.origin(name) === 'flag')
  const named = ['store', 'store-file'].find((name) => args.origin(name) !== undefined)
  const [ofService, ofStore] = [byFlag('url', 'token-file'), byFlag('store', 'store-file', 'policy')]
  if (ofStore && named === undefined) throw wrong('--policy belongs to --store; a service has its own')
  if (named === undefined || (ofService && !ofStore)) return serviceKeys(url ?? DEFAULT_URL, token, args.called('url'))
  if (ofService === ofStore && (url !== undefined || ofService))
    throw wrong(`${args.called(named)} and ${args.called('url')} exclude each other: name the service or the store`)
  const store = storeUrlOf(verb, args, io) as string
  if (policy === undefined) throw wrong(`${args.called(named)} needs --policy: the limits say what the states mean`)
  if (store.startsWith('memory:')) throw wrong('a memory store is inside the process that serves; address that process with --url')
  return storeKeys(store, policyPlace(policy, args))
}

function targetOf(args: ParsedArguments): KeyTarget {
  const limit = args.text('limit')
  return { key: args.words[0] as string, ...(limit === undefined ? {} : { limit }) }
}

function stateText({ name, tier, source, limit, blockedForMs, ...state }: KeyState): string[] {
  const left = state.fresh
    ? `${limit} of ${limit}, fresh`
    : `${state.remaining} of ${limit}, one more in ${state.replenishAfterMs} ms, fresh in ${state.resetAfterMs} ms`
  return [
    `  ${name}${tier === '' ? '' : `, tier ${tier}`}, as ${source}: ${left}`,
    `    ${state.algorithm}, state ${state.state}`,
    ...(blockedForMs === undefined ? [] : [`    blocked for ${blockedForMs} ms more`]),
  ]
}
