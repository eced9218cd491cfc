import { requireMethods } from '../../../errors/options.ts'
import type { RedisPort } from './redis-port.ts'

/** The part of a GlideClient or GlideClusterClient (version 2) that the store uses. */
export interface ValkeyGlideLike {
  /** Runs a command of any name. */
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
 * another): keep that above the store's deadline. Glide replaces connections itself. The caller owns the client: the adapter neither
 * configures nor closes it.
 * @throws LimiterError INVALID_OPTIONS for any other client
 */
export function valkeyGlide(client: ValkeyGlideLike): RedisPort {
  requireMethods('valkeyGlide', 'a client of valkey-glide', client, ['customCommand'])
  const runAs = (command: string): RedisPort['eval'] => {
    return (program, keys, args) => {
      const words = [command, program, String(keys.length), ...keys, ...args.map(String)]
      return client.customCommand(words, { decoder: BYTES }).catch(inWordsOfTheServer)
    }
  }
  return {
    ...('invokeScriptWithRoute' in client ? { cluster: true } : {}),
    evalsha: runAs('EVALSHA'),
    eval: runAs('EVAL'),
  }
}

function inWordsOfTheServer(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error)
  const [, word = '', rest = ''] = /^(?:An error was signalled by the server: - )?(\w+): (.*)$/s.exec(message) ?? []
  const known = WORDS[word] ?? (/^[A-Z]+$/.test(word) ? word : undefined)
  throw known === undefined ? error : new Error(`${known} ${rest}`, { cause: error })
}
