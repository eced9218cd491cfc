import type { Claims, Policy, Pseudonym, RequestFacts } from 'sluice/policy'
import { pseudonymOf } from './pseudonym.ts'
import { readSecret } from './secret-file.ts'
import { type ChosenKeys, keySource, nextKeySource } from './tokens/key-source.ts'
import { createVerifier, type TokenResult } from './tokens/verifier.ts'

/** Who asks, as a policy wants it known: by tokens that are verified, and in keys under names that tell nothing. */
export interface Identities {
  claims(facts: RequestFacts): Promise<Claims | undefined>
  readonly pseudonym: Pseudonym
  /**
   * Reads the files of another policy, in slices; nothing changes until `use` is called. Rejects with LimiterError INVALID_POLICY for a
   * file that is no use.
   */
  prepare(policy: Policy): Promise<PreparedIdentities>
  /** Follows no keys any more. */
  close(): void
}

export interface PreparedIdentities {
  /** Absent where the policy keeps identifiers as they are. */
  readonly pseudonym: Pseudonym | undefined
  use(): void
}

interface Read {
  readonly chosen: ChosenKeys | undefined
  readonly claims?: (facts: RequestFacts) => Promise<Claims | undefined>
  readonly pseudonym?: Pseudonym
  /** Follows the keys, until the function that comes of it is called. */
  follow(says: (line: string) => void): () => void
}

/**
 * @param file the policy's own, from whose folder the others are found
 * @param count hears of every token
 * @param says is told what becomes of keys that are replaced while the process runs; where it is missing, they are not followed
 * @throws LimiterError INVALID_POLICY for a file that cannot be read or used
 */
export function createIdentities(
  file: string,
  first: Policy,
  count: (result: TokenResult) => void,
  says?: (line: string) => void,
): Identities {
  const { jwt: choice } = first
  let current = read(file, first, choice === undefined ? undefined : { choice, source: keySource(file, choice) }, count)
  const follow = (): (() => void) => (says === undefined ? () => {} : current.follow(says))
  let unfollow = follow()
  return {
    claims: async (facts) => current.claims?.(facts),
    // Only a policy that has a secret asks for pseudonyms.
    pseudonym: (text) => current.pseudonym?.(text) ?? '',
    async prepare(policy) {
      const { jwt } = policy
      const chosen = jwt === undefined ? undefined : { choice: jwt, source: await nextKeySource(file, jwt, current.chosen) }
      const next = read(file, policy, chosen, count)
      return {
        pseudonym: next.pseudonym,
        use() {
          unfollow()
          current = next
          unfollow = follow()
        },
      }
    },
    close: () => unfollow(),
  }
}

function read(file: string, { identifiers }: Policy, chosen: ChosenKeys | undefined, count: (result: TokenResult) => void): Read {
  const source = chosen?.source
  const verifier =
    chosen === undefined ? undefined : createVerifier({ keys: chosen.source.keys, choice: chosen.choice, now: Date.now, count })
  const secret = identifiers?.mode === 'hmac' ? readSecret(file, identifiers.secretFile, 'identifiers.secretFile') : undefined
  return {
    chosen,
    ...(verifier === undefined ? {} : { claims: verifier.claims }),
    ...(secret === undefined ? {} : { pseudonym: pseudonymOf(secret) }),
    follow: (says) => source?.follow({ changed: () => verifier?.forget(), says }) ?? (() => {}),
  }
}
