import { type RedisPort, validClient } from './redis-port.ts'

/** The part of a GlideClient or GlideClusterClient (version 2) that the store uses. */
export interface ValkeyGlideLike {
  customCommand(args: string[], options?: { decoder: number }): Promise<unknown>
}

/** The decoder of replies that leaves texts as bytes. */
const BYTES = 0

/** Glide renames some errors; this maps them back to the first word of the server's reply. */
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
 * Adapts a client of valkey-glide to the store's port. Glide always has its own timeout per command (250 ms unless `requestTimeout` sets
 * another): keep it above the store's deadline. Glide replaces connections itself. The caller owns the client: this neither configures
 * nor closes it.
 * @throws LimiterError INVALID_OPTIONS for any other client
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
