import { StoreFailure } from '../store.ts'
import { isNoScript } from './failures.ts'
import type { Program } from './programs.gen.ts'
import type { RedisPort } from './clients/redis-port.ts'
import { NO_WATCH, type SilenceWatch } from './silence.ts'

/** A program. `whenLoading` changes its arguments for the call that sends its text. */
export interface Loadable extends Program {
  readonly whenLoading?: (args: readonly (string | number)[]) => readonly (string | number)[]
}

/**
 * Returns a function that runs a program, and resolves with its reply.
 * @param late returns whether the caller has stopped waiting for the reply: then nothing more is sent
 */
export type RunProgram = (
  program: Loadable,
  keys: readonly string[],
  args: readonly (string | number)[],
  late: () => boolean,
) => () => Promise<unknown>

/**
 * Runs programs by their digests. A server may forget a program after a restart, a failover or SCRIPT FLUSH. Then one call sends the text
 * and the other calls wait for that call. If a thousand calls sent it, they would hold up the server and this process.
 */
export function programRunner(client: RedisPort, silence: SilenceWatch = NO_WATCH): RunProgram {
  /** The calls in flight that send a text, by the digest of the program. */
  const loading = new Map<string, Promise<unknown>>()
  const load = ({ sha1, source, whenLoading }: Loadable, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> => {
    const watched = silence.sent(keys[0])
    const text = client.eval(source(), keys, whenLoading?.(args) ?? args)
    loading.set(sha1, text)
    const done = (error?: unknown): void => {
      silence.ended(watched, error)
      if (loading.get(sha1) === text) loading.delete(sha1)
    }
    text.then(() => done(), done)
    return text
  }
  /** @param isLast whether the call has waited for a text already, and must not wait for another */
  const running =
    (program: Loadable, keys: readonly string[], args: readonly (string | number)[], late: () => boolean, isLast = false) =>
    async (): Promise<unknown> => {
      const watched = silence.sent(keys[0])
      try {
        const reply = await client.evalsha(program.sha1, keys, args)
        silence.ended(watched)
        return reply
      } catch (error) {
        silence.ended(watched, error)
        throwUnlessLost(error, late)
        const text = isLast ? undefined : loading.get(program.sha1)
        if (text === undefined) return load(program, keys, args)
        await text.catch(() => {})
        throwUnlessLost(error, late)
        // On a cluster, the text may have been sent to another node than that of this call. Then this call sends it too.
        return running(program, keys, args, late, true)()
      }
    }
  return running
}

/** Throws the error, unless it says that the server has forgotten the program and the caller still waits. */
function throwUnlessLost(error: unknown, late: () => boolean): void {
  if (!isNoScript(error)) throw error
  if (late()) throw new StoreFailure('timeout', 'no', 'redis: it had forgotten the program, and the deadline has passed', { cause: error })
}
