import { createHmac } from 'node:crypto'
import type { Policy, RequestFacts } from 'sluice/policy'
import { readSecret } from '../files/regular-file.ts'
import { type ChosenKeys, keySource, nextKeySource } from './key-source.ts'
import { createVerifier, type TokenResult } from './verifier.ts'

/** Length in bytes: two of a billion identities collide with a probability below 2^-68. */
const PSEUDONYM_BYTES = 16

export type Identities = ReturnType<typeof createIdentities>

/**
 * Finds the identity of a request: verified claims of its token, and pseudonyms for keys.
 * @param file the policy's own file; the other files are found relative to its folder
 * @param count called with the result of each token
 * @param says called with a line about each replacement of keys while the process runs; if it is absent, keys are not followed
 * @throws LimiterError INVALID_POLICY for a file that cannot be read or used
 */
export function createIdentities(file: string, first: Policy, count: (result: TokenResult) => void, says?: (line: string) => void) {
  const of = ({ identifiers }: Policy, chosen: ChosenKeys | undefined) => {
    const secret = identifiers?.mode === 'hmac' ? readSecret(file, identifiers.secretFile, 'identifiers.secretFile') : undefined
    const { source, choice } = chosen ?? {}
    return {
      chosen,
      verifier: choice === undefined ? undefined : createVerifier({ keys: source?.keys, choice, now: Date.now, count }),
      pseudonym: secret === undefined ? undefined : pseudonymOf(secret),
    }
  }
  let current = of(first, first.jwt === undefined ? undefined : { choice: first.jwt, source: keySource(file, first.jwt) })
  const follow = (): (() => void) | undefined => {
    const { chosen, verifier } = current
    return says === undefined ? undefined : chosen?.source.follow({ changed: () => verifier?.forget(), says })
  }
  let unfollow = follow()
  return {
    claims: async (facts: RequestFacts) => current.verifier?.claims(facts),
    // Only a policy with a secret uses pseudonyms.
    pseudonym: (text: string) => current.pseudonym?.(text) ?? '',
    /**
     * Reads the files of another policy, in slices. Nothing changes until `use` is called. Rejects with LimiterError INVALID_POLICY for a
     * file that cannot be used.
     */
    async prepare(policy: Policy) {
      const { jwt } = policy
      const next = of(policy, jwt === undefined ? undefined : { choice: jwt, source: await nextKeySource(file, jwt, current.chosen) })
      return {
        /** Absent if the policy keeps identifiers as they are. */
        pseudonym: next.pseudonym,
        use() {
          unfollow?.()
          current = next
          unfollow = follow()
        },
      }
    },
    /** Stops following the keys. */
    close: () => unfollow?.(),
  }
}

/** A keyed hash of an identity. Without the secret nobody can find the identity, or test a guess. */
export function pseudonymOf(secret: Uint8Array): (identity: string) => string {
  return (identity) => createHmac('sha256', secret).update(identity).digest().subarray(0, PSEUDONYM_BYTES).toString('base64url')
}
