import { createHmac } from 'node:crypto'
import type { Policy, RequestFacts } from 'sluice/policy'
import { readSecret } from '../files/regular-file.ts'
import { type ChosenKeys, keySource } from './key-source.ts'
import type { KeyFollower } from './remote-keys.ts'
import { createVerifier, type VerifierParts } from './verifier.ts'

/** Length in bytes: two of a billion identities collide with a probability below 2^-68. */
const PSEUDONYM_BYTES = 16

export type Identities = Awaited<ReturnType<typeof createIdentities>>

/**
 * Finds the identity of a request: verified claims of its token, and pseudonyms for keys. Rejects with LimiterError INVALID_POLICY for a
 * file that cannot be read or used.
 * @param file the policy's own file; the other files are found relative to its folder
 * @param count called with the result of each token
 * @param says called with a line about each replacement of keys while the process runs; if it is absent, keys are not followed
 */
export async function createIdentities(file: string, first: Policy, count: VerifierParts['count'], says?: KeyFollower['says']) {
  const read = async ({ identifiers, jwt: choice }: Policy, before?: ChosenKeys) => {
    const chosen = choice === undefined ? undefined : { choice, source: await keySource(file, choice, before) }
    const secret = identifiers?.mode === 'hmac' ? readSecret(file, identifiers.secretFile, 'identifiers.secretFile') : undefined
    return {
      chosen,
      verifier: chosen === undefined ? undefined : createVerifier({ ...chosen, keys: chosen.source.keys, now: Date.now, count }),
      pseudonym: secret === undefined ? undefined : pseudonymOf(secret),
    }
  }
  let current = await read(first)
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
      const next = await read(policy, current.chosen)
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
    close: () => unfollow?.(),
  }
}

/** A keyed hash of an identity. Without the secret nobody can find the identity, or test a guess. */
export function pseudonymOf(secret: Uint8Array): (identity: string) => string {
  return (identity) => createHmac('sha256', secret).update(identity).digest().subarray(0, PSEUDONYM_BYTES).toString('base64url')
}
