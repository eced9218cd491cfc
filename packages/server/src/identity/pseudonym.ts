import { createHmac } from 'node:crypto'

/** Length in bytes: two of a billion identities collide with a probability below 2^-68. */
const BYTES = 16

/** A keyed hash of an identity. Without the secret nobody can find the identity, or test a guess. */
export function pseudonymOf(secret: Uint8Array): (identity: string) => string {
  return (identity) => createHmac('sha256', secret).update(identity).digest().subarray(0, BYTES).toString('base64url')
}
