import { StoreFailure } from '../store.ts'
import { isNoScript } from './failures.ts'
import type { Program } from './programs.gen.ts'
import type { RedisPort } from './clients/redis-port.ts'

/** @param late whether the caller no longer waits for the answer: then nothing further is sent */
export type RunProgram = (
  program: Program,
  keys: readonly string[],
  args: readonly (string | number)[],
  late: () => boolean,
) => Promise<unknown>

/**
 * Runs programs by their digests. A server may lose one after a restart, a failover or SCRIPT FLUSH. Then one call sends the text and the
 * other calls wait for it: a thousand texts at once would hold up the server and this process.
 */
export function programRunner(client: RedisPort): RunProgram {
  /** The call that sends the text, by digest. */
  const bringing = new Map<string, Promise<unknown>>()
  return (program, keys, args, late) => {
    const { sha1, source } = program
    const byDigest = (): Promise<unknown> => client.evalsha(sha1, keys, args)
    const forgotten = (error: unknown): void => {
      if (!isNoScript(error)) throw error
      if (late()) {
        throw new StoreFailure('timeout', 'no', 'redis: it had forgotten the program, and the deadline has passed', { cause: error })
      }
    }
    const bring = (): Promise<unknown> => {
      const text = client.eval(source(), keys, args)
      bringing.set(sha1, text)
      const done = (): void => void (bringing.get(sha1) === text && bringing.delete(sha1))
      text.then(done, done)
      return text
    }
    return byDigest().catch(async (error: unknown) => {
      forgotten(error)
      const text = bringing.get(sha1)
      if (text === undefined) return bring()
      await text.catch(() => {})
      forgotten(error)
      // The text may have gone to another node of a cluster.
      return byDigest().catch((again: unknown) => {
        forgotten(again)
        return bring()
      })
    })
  }
}
