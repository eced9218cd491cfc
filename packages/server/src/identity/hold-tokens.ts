import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Bytes of a signature: nobody guesses one in any time. */
const SIGNATURE_BYTES = 16
const SECRET_BYTES = 32

/** Signs the ids of holds, so that a client can only settle what this service has given it. */
export interface HoldTokens {
  /** Undefined if the service has several processes, and the policy names no secret that they share. */
  tokenOf(id: string): string | undefined
  /** The id of a token; undefined if this service did not sign it. */
  idOf(token: string): string | undefined
}

/**
 * @param shared the secret of the policy; it may change with the policy
 * @param isAlone whether this is the only process of the service, so that a secret of its own is enough
 */
export function holdTokens(shared: () => Uint8Array | undefined, isAlone: boolean): HoldTokens {
  const own = randomBytes(SECRET_BYTES)
  const signed = (id: string): Buffer | undefined => {
    const secret = shared() ?? (isAlone ? own : undefined)
    return secret && createHmac('sha256', secret).update('hold\0').update(id).digest().subarray(0, SIGNATURE_BYTES)
  }
  return {
    tokenOf(id) {
      const signature = signed(id)
      return signature && `${id}.${signature.toString('base64url')}`
    },
    idOf(token) {
      const dot = token.lastIndexOf('.')
      const id = token.slice(0, Math.max(0, dot))
      const [signature, expected] = [Buffer.from(token.slice(dot + 1), 'base64url'), signed(id)]
      return expected?.length === signature.length && timingSafeEqual(expected, signature) ? id : undefined
    },
  }
}
