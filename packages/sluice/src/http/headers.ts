import { jitteredSeconds } from '../decision/jitter.ts'
import type { Decision, LimitView } from '../decision/decision.ts'

/** Which fields are sent. Names and forms: draft-ietf-httpapi-ratelimit-headers-11 and RFC 6585. */
export interface HeaderOptions {
  /** `RateLimit`, `RateLimit-Policy` and the older triplet; default `draft-11`. */
  readonly dialect?: 'draft-11' | 'off'
  /** X-RateLimit-Reset as seconds to wait or as seconds since 1970; default `off`. */
  readonly legacy?: 'off' | 'delta' | 'epoch'
  /** X-RateLimit-Limit; default true. */
  readonly limit?: boolean
  /** X-RateLimit-Remaining; default true. */
  readonly remaining?: boolean
  /** Retry-After on a denial; default true. */
  readonly retryAfter?: boolean
}

export type HeaderList = readonly (readonly [name: string, value: string])[]

/** Largest Integer of a structured field (RFC 9651, 3.3.1). */
const LARGEST = 999_999_999_999_999

/**
 * The fields that tell a client how it stands. Nothing is sent of what is not known: an undecided answer carries no quota.
 * @param identity what tells clients apart, for the spread of Retry-After; it is not sent
 */
export function headersOf(decision: Decision, identity: string, options: HeaderOptions = {}): HeaderList {
  const { dialect = 'draft-11', legacy = 'off', limit = true, remaining = true, retryAfter = true } = options
  const headers: [string, string][] = []
  const nearest = nearestOf(decision)
  if (nearest !== undefined) {
    const [capacity, left, reset] = [whole(nearest.limit), whole(nearest.remaining), seconds(nearest.replenishAfterMs)]
    if (dialect === 'draft-11') {
      headers.push(['RateLimit-Policy', decision.limits.map(policyItem).join(', ')])
      headers.push(['RateLimit', decision.limits.map(quotaItem).join(', ')])
      headers.push(['RateLimit-Limit', capacity], ['RateLimit-Remaining', left], ['RateLimit-Reset', String(reset)])
    }
    if (limit) headers.push(['X-RateLimit-Limit', capacity])
    if (remaining) headers.push(['X-RateLimit-Remaining', left])
    if (legacy === 'delta') headers.push(['X-RateLimit-Reset', String(reset)])
    if (legacy === 'epoch') headers.push(['X-RateLimit-Reset', String(Math.ceil(decision.at / 1_000) + reset)])
  }
  if (!decision.allowed) {
    const wait = waitOf(decision)
    if (wait !== undefined && retryAfter) headers.push(['Retry-After', String(jitteredSeconds(wait, identity))])
    headers.push(['Cache-Control', 'no-store'])
  }
  return headers
}

/** The limit that denied, or else the one that would run out first. */
function nearestOf({ limits, ...decision }: Decision): LimitView | undefined {
  const named = limits.find(({ name }) => name === decision.limitName)
  if (named !== undefined) return named
  return limits.reduce<LimitView | undefined>(
    (least, view) => (least === undefined || view.remaining < least.remaining ? view : least),
    undefined,
  )
}

/** Milliseconds after which another try makes sense; none where waiting cannot help. */
function waitOf(decision: Decision): number | undefined {
  if (decision.outcome === 'denied') return decision.retryAfterMs
  return decision.outcome === 'undecided' ? 1_000 : undefined
}

function policyItem({ name, limit, windowMs }: LimitView): string {
  return `${text(name)};q=${whole(limit)};w=${Math.max(1, seconds(windowMs))}`
}

function quotaItem({ name, remaining, replenishAfterMs }: LimitView): string {
  return `${text(name)};r=${whole(remaining)};t=${seconds(replenishAfterMs)}`
}

function seconds(ms: number): number {
  return Math.ceil(ms / 1_000)
}

function whole(value: number): string {
  return String(Math.min(LARGEST, Math.max(0, Math.floor(value))))
}

/** A String of RFC 9651, 3.3.3: printable ASCII between quotes, with `"` and `\` escaped; other characters percent-encoded. */
function text(name: string): string {
  const printable = name.replace(/[^\x20-\x7e]/gu, (character) =>
    /^[\ud800-\udfff]$/.test(character) ? '%EF%BF%BD' : encodeURIComponent(character),
  )
  return `"${printable.replace(/["\\]/g, '\\$&')}"`
}
