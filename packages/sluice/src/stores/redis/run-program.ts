import { StoreFailure } from '../store.ts'
import { isNoScript } from './failures.ts'
import type { Program } from './programs.gen.ts'
import type { RedisPort } from './clients/redis-port.ts'
import { NO_WATCH, type SilenceWatch } from './silence.ts'

/** `whenLoading` changes the arguments of the call that sends the text. */
export interface Loadable extends Program {
  readonly whenLoading?: (args: readonly (string | number)[]) => readonly (string | number)[]
}

/** @param late whether the caller has stopped waiting: then nothing more is sent */
export type RunProgram = (
  program: Loadable,
  keys: readonly string[],
  args: readonly (string | number)[],
  late: () => boolean,
) => () => Promise<unknown>

/**
 * If the server has lost a program, one call sends the text and the others wait: a thousand texts would hold up the server and this
 * process.
 */
export function programRunner(client: RedisPort, silence: SilenceWatch = NO_WATCH): RunProgram {
  /** Calls in flight that send a text. */
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
  /** @param isLast whether the call has waited already, and must now send the program's text itself */
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
        // On a Cluster, the text may have gone to another node. Then this call sends it too.
        return running(program, keys, args, late, true)()
      }
    }
  return running
}

/** Returns only if the server has lost the program and the caller still waits. */
function throwUnlessLost(error: unknown, late: () => boolean): void {
  if (!isNoScript(error)) throw error
  if (late()) throw new StoreFailure('timeout', 'no', 'redis: it had forgotten the program, and the deadline has passed', { cause: error })
}
