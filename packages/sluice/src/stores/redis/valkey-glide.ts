import { type RedisPort, validClient } from './redis-port.ts'

/** The part of a GlideClient or GlideClusterClient (version 2) that is used. */
export interface ValkeyGlideLike {
  customCommand(args: string[], options?: { decoder: number }): Promise<unknown>
}

/** Its decoder of replies that leaves texts as bytes. */
const BYTES = 0

/** Glide has words of its own for some errors: back to the first word of the server's reply. */
const WORDS: Readonly<Record<string, string>> = {
  NoScriptError: 'NOSCRIPT',
  ReadOnly: 'READONLY',
  BusyLoadingError: 'LOADING',
  MasterDown: 'MASTERDOWN',
  ClusterDown: 'CLUSTERDOWN',
  TryAgain: 'TRYAGAIN',
  PermissionDenied: 'NOPERM',
  CrossSlot: 'CROSSSLOT',
  Moved: 'MOVED',
  Ask: 'ASK',
  ResponseError: 'ERR',
}

/**
 * A client of valkey-glide as the store's port. Glide always has a time-out of its own per command (250 ms unless `requestTimeout`
 * says otherwise) and replaces connections itself: leave it above the store's deadline. The client stays the caller's: it is neither
 * configured nor closed.
 * @throws LimiterError INVALID_OPTIONS for what is no such client
 */
export function valkeyGlide(client: ValkeyGlideLike): RedisPort {
  const valid = validClient('valkeyGlide', 'valkey-glide', client, ['customCommand'])
  const run = (command: string, first: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> =>
    valid.customCommand([command, first, String(keys.length), ...keys, ...args.map(String)], { decoder: BYTES }).catch(inWordsOfTheServer)
  return {
    ...('invokeScriptWithRoute' in valid ? { cluster: true } : {}),
    evalsha: (sha1, keys, args) => run('EVALSHA', sha1, keys, args),
    eval: (source, keys, args) => run('EVAL', source, keys, args),
  }
}

function inWordsOfTheServer(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error)
  const [, word = '', rest = ''] = /^(?:An error was signalled by the server: - )?(\w+): (.*)$/s.exec(message) ?? []
  const known = WORDS[word] ?? (/^[A-Z]+$/.test(word) ? word : undefined)
  throw known === undefined ? error : new Error(`${known} ${rest}`, { cause: error })
}
