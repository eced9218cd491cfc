import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** The first key signs. Signatures by any key are accepted, so that keys can be replaced in one region after another. */
export type RegionKeys = readonly [string, ...string[]]

export interface Signed {
  readonly 'sluice-time': string
  readonly 'sluice-nonce': string
  readonly 'sluice-signature': string
}

/** Milliseconds by which the clocks of two regions may differ. */
export const MAX_SKEW_MS = 60_000
/** Each peer sends only a few requests a second. */
const MAX_NONCES = 20_000

/** `to` is signed too: a request for another region has another signature. */
export function signRequest([key]: RegionKeys, to: string, body: string, now: number): Signed {
  const [time, nonce] = [String(now), randomBytes(16).toString('hex')]
  return { 'sluice-time': time, 'sluice-nonce': nonce, 'sluice-signature': mac(key, ['request', to, time, nonce, body]) }
}

/** Signs the answer to a peer: a forged one could send the peer units (parts of a limit). */
export function signPage([key]: RegionKeys, nonce: string, body: string): string {
  return mac(key, ['page', nonce, body])
}

export function isPageOf(keys: RegionKeys, nonce: string, body: string, signature: string | null): boolean {
  return isSigned(keys, ['page', nonce, body], signature ?? '')
}

/** Accepts each signed request once. */
export interface Gate {
  /** Returns the nonce of an accepted request, or the reason of a refusal. */
  admit(headers: IncomingHttpHeaders, body: string, now: number): { readonly nonce: string } | { readonly why: string }
}

/** @param keysNow read at each request, because keys are replaced at run time */
export function createGate(self: string, keysNow: () => RegionKeys): Gate {
  /** By nonce, the milliseconds since 1970 when it may be forgotten; the oldest is first. */
  const nonces = new Map<string, number>()
  return {
    admit(headers, body, now) {
      const [time, nonce, signature] = ['sluice-time', 'sluice-nonce', 'sluice-signature'].map((name) => headers[name])
      if (typeof time !== 'string' || typeof nonce !== 'string' || typeof signature !== 'string') return { why: 'it is not signed' }
      if (!isSigned(keysNow(), ['request', self, time, nonce, body], signature))
        return { why: `its signature is not one of region ${self}: compare the files of --region-key-file, and the names in --peers` }
      const skew = Math.abs(now - Number(time))
      if (!(skew <= MAX_SKEW_MS)) return { why: `its time differs by ${Math.round(skew / 1_000)} s: synchronize the clocks of the regions` }
      for (const [old, until] of nonces) {
        if (until > now) break
        nonces.delete(old)
      }
      if (nonces.has(nonce)) return { why: 'it was sent before' }
      if (nonces.size >= MAX_NONCES) return { why: 'there are too many requests' }
      nonces.set(nonce, now + 2 * MAX_SKEW_MS)
      return { nonce }
    },
  }
}

function isSigned(keys: RegionKeys, parts: readonly string[], signature: string): boolean {
  const sent = Buffer.from(signature)
  // Every key is compared, so that the time does not show which key fits.
  return (
    keys.map((key) => Buffer.from(mac(key, parts))).filter((own) => own.length === sent.length && timingSafeEqual(own, sent)).length > 0
  )
}

/** Unambiguous: the number of parts is fixed, and only the last may contain a line break. */
function mac(key: string, parts: readonly string[]): string {
  return createHmac('sha256', key).update(parts.join('\n')).digest('hex')
}
