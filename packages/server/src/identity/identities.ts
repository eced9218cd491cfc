import { createHmac } from 'node:crypto'
import type { Policy, RequestFacts } from 'sluice/policy'
import { readSecret } from '../files/regular-file.ts'
import { keySource } from './key-source.ts'
import type { KeyFollower, KeySource } from './remote-keys.ts'
import { type CountToken, createVerifier } from './verifier.ts'

/** Bytes. Among a billion identities a collision has a probability below 2^-68. */
const PSEUDONYM_BYTES = 16

export type Identities = Awaited<ReturnType<typeof createIdentities>>

/**
 * Rejects with LimiterError INVALID_POLICY for a file that cannot be read or used.
 * @param file the policy's own file; other files are relative to its folder
 * @param says writes a line when the keys that verify tokens change or cannot be read; if absent, their changes are not followed
 */
export async function createIdentities(file: string, first: Policy, count: CountToken, says?: KeyFollower['says']) {
  const read = async ({ identifiers, reservations, jwt: choice }: Policy, before?: KeySource) => {
    const source = choice && (await keySource(file, choice, before))
    const verifier = choice && createVerifier({ choice, keys: source?.keys, now: Date.now, count })
    const secretFile = reservations?.secretFile
    const holdSecret = secretFile === undefined ? undefined : readSecret(file, secretFile, 'reservations.secretFile')
    if (identifiers?.mode !== 'hmac') return { source, verifier, holdSecret, pseudonym: undefined }
    const secret = readSecret(file, identifiers.secretFile, 'identifiers.secretFile')
    return { source, verifier, holdSecret, pseudonym: pseudonymOf(secret) }
  }
  let current = await read(first)
  const follow = (): (() => void) | undefined => {
    const { source, verifier } = current
    return says && source?.follow({ changed: () => verifier?.forget(), says })
  }
  let unfollow = follow()
  return {
    claims: async (facts: RequestFacts) => current.verifier?.claims(facts),
    /** Undefined if the policy names no secret. */
    holdSecret: (): Uint8Array | undefined => current.holdSecret,
    // Called only if the policy has a secret for pseudonyms.
    pseudonym: (text: string) => current.pseudonym?.(text) ?? '',
    /** Nothing changes until `use` is called. Rejects with LimiterError INVALID_POLICY for a file that cannot be used. */
    async prepare(policy: Policy) {
      const next = await read(policy, current.source)
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

/** Without the secret nobody can find the identity, or test a guess. */
export function pseudonymOf(secret: Uint8Array): (identity: string) => string {
  return (identity) => createHmac('sha256', secret).update(identity).digest().subarray(0, PSEUDONYM_BYTES).toString('base64url')
}
