import { requireMethods } from '../../../errors/options.ts'
import type { RedisPort } from './redis-port.ts'

/** What the store uses of a GlideClient or GlideClusterClient (version 2). */
export interface ValkeyGlideLike {
  /** Runs a command of any name. */
  customCommand(args: string[], options?: { decoder: number }): Promise<unknown>
}

/** The decoder of replies that leaves texts as bytes. */
const BYTES = 0

/** Glide renames some errors. This maps them back to the first word of the server's reply. */
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
 * Adapts a client of valkey-glide, which replaces connections itself. The caller configures and closes the client. Keep Glide's timeout per
 * command (`requestTimeout`, 250 ms by default) above the store's deadline.
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
