import { createHmac } from 'node:crypto'

/** Sixteen bytes: two of a billion identities collide with a probability below 2^-68. */
const BYTES = 16

/** A keyed name for an identity: without the secret nobody can tell whose it is, or try who it might be. */
export function pseudonymOf(secret: Uint8Array): (identity: string) => string {
  return (identity) => createHmac('sha256', secret).update(identity).digest().subarray(0, BYTES).toString('base64url')
}
