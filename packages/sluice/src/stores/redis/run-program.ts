import { StoreFailure } from '../store.ts'
import { isNoScript } from './failures.ts'
import type { Program } from './programs.gen.ts'
import type { RedisPort } from './redis-port.ts'

/** @param late whether nobody waits for the answer any more: then nothing further is sent */
export type RunProgram = (
  program: Program,
  keys: readonly string[],
  args: readonly (string | number)[],
  late: () => boolean,
) => Promise<unknown>

/**
 * Runs programs by their digests. Where a server has forgotten one (it was started again, failed over or told to), one call brings the text and
 * those who also asked wait for it: a thousand texts at once would hold up the server and this process.
 */
export function programRunner(client: RedisPort): RunProgram {
  /** By digest, the call that brings the text. */
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
      const text = client.eval(source, keys, args)
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
      // It may have been another node of a cluster that was brought the text.
      return byDigest().catch((again: unknown) => {
        forgotten(again)
        return bring()
      })
    })
  }
}
