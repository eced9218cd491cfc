import type { Log } from '../logs/log.ts'
import { inOneLine } from '../policy/held-policy.ts'

interface Message {
  readonly kind: string
}

/**
 * After an update of the package under a running service, a restarted worker has another version than the primary. A message that one of
 * them does not understand must not end the process, so it is ignored. Each kind is logged once.
 */
export function ignoreUnknown<M extends Message, More>(receive: (message: M, more: More) => void, log: Log) {
  const logged = new Set<string>()
  return (message: M, more: More): void => {
    try {
      receive(message, more)
    } catch (error) {
      const { kind: sent }: { readonly kind?: unknown } = message
      const kind = String(sent).slice(0, 60)
      if (logged.has(kind)) return
      logged.add(kind)
      const advice = 'if the package was updated, restart the whole service'
      log('error', 'message-ignored', `ignores messages ${JSON.stringify(kind)} of another process: ${inOneLine(error)}; ${advice}`)
    }
  }
}

/** @throws Error; the type `never` means that the compiler has found a case for each known kind */
export function unknownKind(message: never): never {
  throw new Error(`the kind ${JSON.stringify((message as Message).kind)} is unknown`)
}
