import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** The keys that regions share. The first one signs; each of them is accepted, so that keys can be replaced one region after the other. */
export type RegionKeys = readonly [string, ...string[]]

/** Headers of a signed request. */
export interface Signed {
  readonly 'sluice-time': string
  readonly 'sluice-nonce': string
  readonly 'sluice-signature': string
}

/** Milliseconds by which the clock of a region may differ from that of another. */
export const MAX_SKEW_MS = 60_000
/** The most requests whose nonces are kept. Only those of peers are, and each sends a few in a second. */
const MAX_NONCES = 20_000

/** Signs a request for one region. A request for another region has another signature. */
export function signRequest([key]: RegionKeys, to: string, body: string, now: number): Signed {
  const [time, nonce] = [String(now), randomBytes(16).toString('hex')]
  return { 'sluice-time': time, 'sluice-nonce': nonce, 'sluice-signature': mac(key, ['request', to, time, nonce, body]) }
}

/** Signs the answer to one request: whoever forged a page could grant units. */
export function signPage([key]: RegionKeys, nonce: string, body: string): string {
  return mac(key, ['page', nonce, body])
}

export function isPageOf(keys: RegionKeys, nonce: string, body: string, signature: string | null): boolean {
  return isSigned(keys, ['page', nonce, body], signature ?? '')
}

/** Accepts each request once. */
export interface Gate {
  /** The nonce of a request that another region signed for this one; otherwise why it is refused. */
  admit(headers: IncomingHttpHeaders, body: string, now: number): { readonly nonce: string } | { readonly why: string }
}

/** @param keysNow read at each request, because keys are replaced at run time */
export function createGate(self: string, keysNow: () => RegionKeys): Gate {
  /** When each may be forgotten, in milliseconds since 1970; the oldest first. */
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
  // Every key is compared, so that the time does not show which one it is.
  return (
    keys.map((key) => Buffer.from(mac(key, parts))).filter((own) => own.length === sent.length && timingSafeEqual(own, sent)).length > 0
  )
}

/** The parts are of known number, and only the last may contain a line break. */
function mac(key: string, parts: readonly string[]): string {
  return createHmac('sha256', key).update(parts.join('\n')).digest('hex')
}
