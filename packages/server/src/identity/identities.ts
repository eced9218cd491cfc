import type { Claims, Policy, Pseudonym, RequestFacts } from 'sluice/policy'
import { pseudonymOf } from './pseudonym.ts'
import { readSecret } from '../files/secret-file.ts'
import { type ChosenKeys, keySource, nextKeySource } from './key-source.ts'
import { createVerifier, type TokenResult } from './verifier.ts'

/** Finds the identity of a request: verified claims of its token, and pseudonyms for keys. */
export interface Identities {
  claims(facts: RequestFacts): Promise<Claims | undefined>
  readonly pseudonym: Pseudonym
  /**
   * Reads the files of another policy, in slices. Nothing changes until `use` is called. Rejects with LimiterError INVALID_POLICY for a
   * file that cannot be used.
   */
  prepare(policy: Policy): Promise<PreparedIdentities>
  /** Stops following the keys. */
  close(): void
}

export interface PreparedIdentities {
  /** Absent if the policy keeps identifiers as they are. */
  readonly pseudonym: Pseudonym | undefined
  use(): void
}

interface Read {
  readonly chosen: ChosenKeys | undefined
  readonly claims?: (facts: RequestFacts) => Promise<Claims | undefined>
  readonly pseudonym?: Pseudonym
  /** Follows the keys; the returned function stops that. */
  follow(says: (line: string) => void): () => void
}

/**
 * @param file the policy's own file; the other files are found relative to its folder
 * @param count called with the result of each token
 * @param says called with a line about each replacement of keys while the process runs; if it is absent, keys are not followed
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
    // Only a policy with a secret uses pseudonyms.
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
