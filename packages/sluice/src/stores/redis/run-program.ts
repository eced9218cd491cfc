import { StoreFailure } from '../store.ts'
import { isNoScript } from './failures.ts'
import type { Program } from './programs.gen.ts'
import type { RedisPort } from './clients/redis-port.ts'

/** A program. `whenLoading` changes its arguments for the call that sends its text. */
export interface Loadable extends Program {
  readonly whenLoading?: (args: readonly (string | number)[]) => readonly (string | number)[]
}

/**
 * Runs a program and resolves with its reply.
 * @param late returns whether the caller has stopped waiting for the reply: then nothing more is sent
 */
export type RunProgram = (
  program: Loadable,
  keys: readonly string[],
  args: readonly (string | number)[],
  late: () => boolean,
) => Promise<unknown>

/**
 * Makes a function that runs programs by their digests. A server may forget a program after a restart, a failover or SCRIPT FLUSH. Then one
 * call sends the text and the other calls wait for that call. If a thousand calls sent it, they would hold up the server and this process.
 */
export function programRunner(client: RedisPort): RunProgram {
  /** The calls in flight that send a text, by the digest of the program. */
  const loading = new Map<string, Promise<unknown>>()
  const load: Send = ({ sha1, source, whenLoading }, keys, args) => {
    const text = client.eval(source(), keys, whenLoading?.(args) ?? args)
    loading.set(sha1, text)
    const done = (): void => void (loading.get(sha1) === text && loading.delete(sha1))
    text.then(done, done)
    return text
  }
  const byDigest: Send = ({ sha1 }, keys, args) => client.evalsha(sha1, keys, args)
  const recover = async (cause: unknown, late: () => boolean, ...call: Parameters<Send>): Promise<unknown> => {
    throwUnlessLost(cause, late)
    const text = loading.get(call[0].sha1)
    if (text === undefined) return load(...call)
    await text.catch(() => {})
    throwUnlessLost(cause, late)
    // On a cluster, the text may have been sent to another node than that of this call.
    return byDigest(...call).catch((again: unknown) => {
      throwUnlessLost(again, late)
      return load(...call)
    })
  }
  return (program, keys, args, late) =>
    client.evalsha(program.sha1, keys, args).catch((error: unknown) => recover(error, late, program, keys, args))
}

type Send = (program: Loadable, keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>

/** Throws the error, unless it says that the server has forgotten the program and the caller still waits. */
function throwUnlessLost(error: unknown, late: () => boolean): void {
  if (!isNoScript(error)) throw error
  if (late()) throw new StoreFailure('timeout', 'no', 'redis: it had forgotten the program, and the deadline has passed', { cause: error })
}
