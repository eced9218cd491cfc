import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Bytes of a signature: 128 bits are too many to guess. */
const SIGNATURE_BYTES = 16
const SECRET_BYTES = 32

/**
 * Signs the ids of reservations (holds), so that a client can only settle a hold whose token this service returned. Callers may choose one
 * id for two keys, so the key is signed too. Calls with request facts have no key.
 */
export interface HoldTokens {
  /** Undefined for a service of several processes without a shared secret. */
  tokenOf(id: string, key: string | undefined): string | undefined
  /** Undefined if this service did not sign the token for this key. */
  idOf(token: string, key: string | undefined): string | undefined
}

/**
 * @param shared the secret of the policy; it may change with the policy
 * @param isAlone whether this is the only process of the service
 */
export function holdTokens(shared: () => Uint8Array | undefined, isAlone: boolean): HoldTokens {
  const own = randomBytes(SECRET_BYTES)
  const signed = (id: string, key: string | undefined): Buffer | undefined => {
    const secret = shared() ?? (isAlone ? own : undefined)
    // Ids contain no zero character, so the second zero ends the id. UTF-8 would encode all lone surrogates alike.
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
