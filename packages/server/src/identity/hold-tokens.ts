import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Bytes of a signature: 128 bits are too many to guess. */
const SIGNATURE_BYTES = 16
const SECRET_BYTES = 32

/**
 * Signs the ids of holds, so that a client can only settle a hold whose token this service has returned. Callers may choose the same id for
 * holds of two keys, so the signature also covers the key. If a call has request facts instead of a key, the signature covers only the id.
 * The policy computes the keys from the facts, and the policy may change before the hold is settled.
 */
export interface HoldTokens {
  /** The token of an id; undefined if the service has several processes, and the policy names no secret that they share. */
  tokenOf(id: string, key: string | undefined): string | undefined
  /** The id of a token; undefined if this service did not sign it for this key. */
  idOf(token: string, key: string | undefined): string | undefined
}

/**
 * @param shared the secret of the policy; it may change with the policy
 * @param isAlone whether this is the only process of the service, so that a secret of its own is enough
 */
export function holdTokens(shared: () => Uint8Array | undefined, isAlone: boolean): HoldTokens {
  const own = randomBytes(SECRET_BYTES)
  const signed = (id: string, key: string | undefined): Buffer | undefined => {
    const secret = shared() ?? (isAlone ? own : undefined)
    // An id is printable and contains no zero character, so the second zero always ends the id. UTF-16 is hashed, because UTF-8 would
    // encode all lone surrogates as the same bytes.
    const text = key === undefined ? `hold\0${id}` : `hold\0${id}\0${key}`
    return secret && createHmac('sha256', secret).update(text, 'utf16le').digest().subarray(0, SIGNATURE_BYTES)
  }
  return {
    tokenOf(id, key) {
      const signature = signed(id, key)
      return signature && `${id}.${signature.toString('base64url')}`
    },
    idOf(token, key) {
      const dot = token.lastIndexOf('.')
      const id = token.slice(0, Math.max(0, dot))
      // Compared as text: base64 decodes several texts to the same bytes.
      const expected = signed(id, key)?.toString('base64url')
      if (expected === undefined) return undefined
      const [given, right] = [Buffer.from(token.slice(dot + 1)), Buffer.from(expected)]
      return given.length === right.length && timingSafeEqual(given, right) ? id : undefined
    },
  }
}
