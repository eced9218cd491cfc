import { createRemoteJWKSet, customFetch, errors, type FetchImplementation, type JWTVerifyGetKey } from 'jose'

/** The keys that verify signatures: a secret, or public keys. The policy's algorithms prevent using one as the other. */
export type TokenKeys = Uint8Array | JWTVerifyGetKey

/** The keys that verify tokens, and how they are kept up to date. */
export interface KeySource {
  /** Undefined if tokens were verified upstream. */
  readonly keys: TokenKeys | undefined
  /** Follows the published keys from now on; the returned function stops that. */
  follow(follower: KeyFollower): () => void
}

export interface KeyFollower {
  /** The keys changed, so cached verifications may be wrong. */
  changed(): void
  /** A line for the operator: keys were replaced, or cannot be. */
  says(line: string): void
}

const DEFAULTS = {
  timeoutMs: 3_000,
  /** Milliseconds between fetches while the keys are followed, and their largest age: two fetches in a row may fail. */
  fetchEveryMs: 300_000,
  maxAgeMs: 900_000,
  /** The least milliseconds between extra fetches, which a token of an unknown key or one after a failure may cause. */
  pauseMs: 30_000,
}
export type RemoteOptions = Partial<typeof DEFAULTS>
const MAX_ANSWER_BYTES = 1_048_576

/** The keys could not be fetched, so the token cannot be verified. */
export class KeysUnavailable extends Error {}

/**
 * The public keys that an issuer publishes. Keys that it no longer publishes are rejected from the next fetch on. While the issuer is
 * unreachable, the last keys stay valid for fifteen minutes.
 */
export function remoteKeys(url: string, options: RemoteOptions = {}): KeySource {
  const { fetchEveryMs, maxAgeMs, pauseMs, timeoutMs } = { ...DEFAULTS, ...options }
  let last: string | undefined
  let failure: Error | undefined
  let failedAt = -Infinity
  let follower: KeyFollower | undefined
  const failed = (error: Error): KeysUnavailable => {
    const why = error.name === 'TimeoutError' ? `no answer within ${timeoutMs / 1_000} s` : reasonOf(error)
    if (failure === undefined) follower?.says(`the keys of jwt.jwksUrl ${url} cannot be fetched: ${why}`)
    failure = new KeysUnavailable(why, { cause: error })
    failedAt = performance.now()
    return failure
  }
  const fetchBounded: FetchImplementation = async (target, request) => {
    if (failure !== undefined && performance.now() - failedAt < pauseMs) throw failure
    try {
      const text = await setIn(await fetch(target, request))
      if (failure !== undefined) follower?.says(`the keys of jwt.jwksUrl ${url} were fetched again`)
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
      throw isAboutKey(error) ? error : new KeysUnavailable('the keys of jwt.jwksUrl cannot be fetched', { cause: error })
    }
  }
  return {
    keys,
    follow(hooks) {
      follower = hooks
      const fetchNow = (): void => {
        set.reload().catch(() => {
          // Verifications by keys that are too old are dropped as well.
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

function isAboutKey(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  )
}

/** The set of keys in an answer. @throws Error for an answer that is not a key set, or a body above the bound, which is not read to its end */
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

/** The reason of a failed fetch; for a failed connection it is in `cause`. */
function reasonOf({ message, cause }: Error): string {
  return (cause instanceof Error && cause.message !== '' ? cause.message : message).replace(/\s+/g, ' ').slice(0, 300)
}
