import { parseDuration, type KeyState, type KeyTarget } from 'sluice/policy'
import { argumentOf, usage } from '../cli/failure.ts'
import { type Flag, JSON_FLAG, type ParsedArguments, print, type Verb } from '../cli/verb.ts'
import { serviceKeys } from './keys/service-keys.ts'
import { type KeyAccess, storeKeys } from './keys/store-keys.ts'

const FLAGS: Readonly<Record<string, Flag>> = {
  url: { value: 'URL', does: 'a running service, default http://127.0.0.1:8080' },
  'token-file': { value: 'FILE', does: "the service's token of administration" },
  store: { value: 'URL', does: 'instead of a service, the store itself: redis://..., postgres://..., pglite:DIR' },
  policy: { value: 'FILE', does: 'the policy whose limits are meant; needed with --store' },
  limit: { value: 'NAME', does: 'one rule; default every rule that has a key' },
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
      await withKeys('inspect', args, async (keys) => {
        const states = await keys.inspect(target)
        print(io, args, { key: target.key, source: keys.name, states }, () => [
          `${JSON.stringify(target.key)} in ${keys.name}:${states.length === 0 ? ' no rule has a key' : ''}`,
          ...states.flatMap(stateText),
        ])
      })
    },
  },
  changing({
    name: 'reset',
    words: ['KEY'],
    does: 'forgets what a key has used, so that its next request finds it fresh; a block stays',
    examples: ['reset user:42 --token-file ./token', `reset user:42 --limit per-key ${STORE}`],
    change: () => ({ facts: {}, now: 'is fresh', apply: (keys, target) => keys.reset(target) }),
  }),
  changing({
    name: 'block',
    words: ['KEY', 'DURATION'],
    does: 'denies a key for a while whatever is left of its limits; DURATION is such as 30s, 15m or 1d',
    examples: ['block user:42 15m --token-file ./token', `block user:42 1d ${STORE}`],
    change([, duration = '']) {
      const blockedForMs = argumentOf('block', () => Math.ceil(parseDuration(duration) / 1_000))
      return blocking(blockedForMs, `is blocked for ${blockedForMs} ms`)
    },
  }),
  changing({
    name: 'unblock',
    words: ['KEY'],
    does: 'lifts the block of a key',
    examples: ['unblock user:42 --token-file ./token', `unblock user:42 ${STORE}`],
    change: () => blocking(null, 'is not blocked'),
  }),
]

function blocking(blockedForMs: number | null, now: string): KeyChange {
  return { facts: { blockedForMs }, now, apply: (keys, target) => keys.block(target, blockedForMs) }
}

interface KeyChange {
  /** What the JSON answer says of it. */
  readonly facts: object
  /** What the text says of the key from now on. */
  readonly now: string
  apply(keys: KeyAccess, target: KeyTarget): Promise<void>
}

function changing({ change, ...verb }: Omit<Verb, 'flags' | 'run'> & { change(words: readonly string[]): KeyChange }): Verb {
  return {
    ...verb,
    flags: FLAGS,
    async run(args, io) {
      const { facts, now, apply } = change(args.words)
      const target = targetOf(args)
      const rules = target.limit === undefined ? 'under every rule that has a key' : `under ${target.limit}`
      await withKeys(verb.name, args, async (keys) => {
        await apply(keys, target)
        const text = `${JSON.stringify(target.key)} ${now} ${rules} in ${keys.name}`
        print(io, args, { ...target, source: keys.name, ...facts, done: verb.name }, () => [text])
      })
    },
  }
}

async function withKeys(verb: string, args: ParsedArguments, work: (keys: KeyAccess) => Promise<void>): Promise<void> {
  const keys = await keysOf(verb, args)
  try {
    await work(keys)
  } finally {
    await keys.close()
  }
}

/**
 * The keys of the service or the store that the flags name.
 * @throws CommandFailure exit 3 for flags that contradict each other, exit 2 if a store cannot be reached
 */
async function keysOf(verb: string, args: ParsedArguments): Promise<KeyAccess> {
  const [url, token, store, policy] = ['url', 'token-file', 'store', 'policy'].map((name) => args.text(name))
  if (store === undefined) {
    if (policy !== undefined) throw usage(`${verb}: --policy belongs to --store; a service has its own`)
    return serviceKeys(url ?? 'http://127.0.0.1:8080', token)
  }
  if (url !== undefined || token !== undefined) throw usage(`${verb}: --store and --url exclude each other: name the service or the store`)
  if (policy === undefined) throw usage(`${verb}: --store needs --policy: the limits say what the states mean`)
  if (store.startsWith('memory:')) throw usage(`${verb}: a memory store is inside the process that serves; address that process with --url`)
  return storeKeys(store, policy)
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
