import type { KeyTarget } from 'sluice/policy'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import type { Flag, ParsedArguments } from '../../cli/verb.ts'
import type { KeyHolder } from './key-holder.ts'
import { serviceHolder } from './of-service.ts'
import { storeHolder } from './of-store.ts'

export const HOLDER_FLAGS: Readonly<Record<string, Flag>> = {
  url: { value: 'URL', does: 'a running service, default http://127.0.0.1:8080' },
  'token-file': { value: 'FILE', does: "the service's token of administration" },
  store: { value: 'URL', does: 'instead of a service, the store itself: redis://..., postgres://..., pglite:DIR' },
  policy: { value: 'FILE', does: 'the policy whose limits are meant; needed beside --store' },
  limit: { value: 'NAME', does: 'one rule; default every rule that has a key' },
}

/**
 * Opens the service or the store that the flags name.
 * @throws CommandFailure exit 3 for flags that contradict each other, exit 2 if a store cannot be reached
 */
export async function openHolder(verb: string, args: ParsedArguments): Promise<KeyHolder> {
  const [url, token, store, policy] = ['url', 'token-file', 'store', 'policy'].map((name) => args.text(name))
  const wrong = (why: string): CommandFailure => new CommandFailure(EXIT.usage, `${verb}: ${why}`)
  if (store === undefined) {
    if (policy !== undefined) throw wrong('--policy belongs to --store; a service has its own')
    return serviceHolder(url ?? 'http://127.0.0.1:8080', token)
  }
  if (url !== undefined || token !== undefined) throw wrong('--store and --url exclude each other: ask the service or the store')
  if (policy === undefined) throw wrong('--store needs --policy: the limits say what the states mean')
  if (store.startsWith('memory:')) throw wrong('a memory store is inside the process that serves; ask that one with --url')
  return storeHolder(store, policy)
}

/** The key and rule that KEY and --limit name. */
export function targetOf(args: ParsedArguments): KeyTarget {
  const limit = args.text('limit')
  return { key: args.words[0] as string, ...(limit === undefined ? {} : { limit }) }
}
