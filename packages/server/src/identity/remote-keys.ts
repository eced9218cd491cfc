import { createRemoteJWKSet, customFetch, errors, type FetchImplementation, type JWTVerifyGetKey } from 'jose'

/** A secret, or public keys. The policy allows only algorithms of the same kind, so no token can use a public key as a secret. */
export type TokenKeys = Uint8Array | JWTVerifyGetKey

export interface KeySource {
  /** Undefined if tokens were verified upstream. */
  readonly keys: TokenKeys | undefined
  /** Undefined if the keys are not fetched. */
  readonly url?: string
  /** Follows changes of the keys until the returned function is called. */
  follow(follower: KeyFollower): () => void
}

export interface KeyFollower {
  /** Keys have changed, so cached verifications may be wrong. */
  changed(): void
  says(level: 'info' | 'warn', line: string): void
}

const DEFAULTS = {
  timeoutMs: 3_000,
  /** Two fetches in a row may fail before the keys are too old. */
  fetchEveryMs: 300_000,
  maxAgeMs: 900_000,
  /** Least pause before an extra fetch: for a token with an unknown key, or after a failed fetch. */
  pauseMs: 30_000,
}
export type RemoteOptions = Partial<typeof DEFAULTS>
/** Errors about the key that a token names, and not about the whole set. */
const ABOUT_KEY = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported]
const MAX_ANSWER_BYTES = 1_048_576

/** Thrown if the keys could not be fetched. */
export class KeysUnavailable extends Error {}

/**
 * Keys that the issuer no longer publishes are rejected after the next fetch. While the issuer is unreachable, the last keys stay valid for
 * fifteen minutes.
 */
export function remoteKeys(url: string, options: RemoteOptions = {}): KeySource {
  const { fetchEveryMs, maxAgeMs, pauseMs, timeoutMs } = { ...DEFAULTS, ...options }
  let last: string | undefined
  let failure: Error | undefined
  let failedAt = -Infinity
  let follower: KeyFollower | undefined
  const failed = (error: Error): KeysUnavailable => {
    const why = error.name === 'TimeoutError' ? `no answer within ${timeoutMs / 1_000} s` : reasonOf(error)
    if (failure === undefined) follower?.says('warn', `the keys of jwt.jwksUrl ${url} cannot be fetched: ${why}`)
    failure = new KeysUnavailable(why, { cause: error })
    failedAt = performance.now()
    return failure
  }
  const fetchBounded: FetchImplementation = async (target, request) => {
    if (failure !== undefined && performance.now() - failedAt < pauseMs) throw failure
    try {
      const text = await setIn(await fetch(target, request))
      if (failure !== undefined) follower?.says('info', `the keys of jwt.jwksUrl ${url} were fetched again`)
      failure = undefined
      if (last !== undefined && last !== text) follower?.changed()
      last = text
      return new Response(text)
    } catch (error) {
      throw failed(error as Error)
    }
  }
  const set = createRemoteJWKSet(new URL(url), {
    timeoutDuration: timeoutMs,
    cooldownDuration: pauseMs,
    cacheMaxAge: maxAgeMs,
    [customFetch]: fetchBounded,
  })
  const keys: JWTVerifyGetKey = async (header, token) => {
    try {
      return await set(header, token)
    } catch (error) {
      if (ABOUT_KEY.some((kind) => error instanceof kind)) throw error
      throw new KeysUnavailable('the keys of jwt.jwksUrl cannot be fetched', { cause: error })
    }
  }
  return {
    keys,
    url,
    follow(hooks) {
      follower = hooks
      const fetchNow = (): void => {
        set.reload().catch(() => {
          // The keys are too old, so claims verified with them are dropped from the cache.
          if (!set.fresh) hooks.changed()
        })
      }
      fetchNow()
      const timer = setInterval(fetchNow, fetchEveryMs)
      return () => {
        clearInterval(timer)
        follower = undefined
      }
    },
  }
}

/** @throws Error for an answer that is not a key set, or is longer than `MAX_ANSWER_BYTES` */
async function setIn(answer: Response): Promise<string> {
  if (answer.status !== 200) throw new Error(`it answered ${answer.status}`)
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of answer.body ?? []) {
    size += (part as Uint8Array).length
    if (size > MAX_ANSWER_BYTES) throw new Error(`its answer is larger than ${MAX_ANSWER_BYTES} bytes`)
    parts.push(part as Uint8Array)
  }
  const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts))
  const keys = (JSON.parse(text) as { keys?: unknown } | null)?.keys
  if (Array.isArray(keys)) return text
  throw new Error('no set of keys; expected {"keys": [...]}')
}

/** If the connection failed, `fetch` gives the reason only in `cause`. */
function reasonOf({ message, cause }: Error): string {
  return (cause instanceof Error && cause.message !== '' ? cause.message : message).replace(/\s+/g, ' ').slice(0, 300)
}
