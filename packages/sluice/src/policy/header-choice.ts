import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown } from '../errors/options.ts'

/** Forms of RateLimit and RateLimit-Policy by revision of the draft; an answer is written in one of them, or in none. */
export const DIALECTS = ['draft-11', 'draft-7', 'draft-6', 'off'] as const

/** What X-RateLimit-Reset holds: nothing, seconds to wait, or seconds since 1970. */
export const LEGACY = ['off', 'delta', 'epoch'] as const

/** Which header fields are sent: in a policy, and as an option of every adapter. */
export interface HeaderOptions {
  /** RateLimit, RateLimit-Policy and the triplet RateLimit-Limit, -Remaining and -Reset; default `draft-11`. */
  readonly dialect?: (typeof DIALECTS)[number]
  /** X-RateLimit-Reset; default `off`. */
  readonly legacy?: (typeof LEGACY)[number]
  /** X-RateLimit-Limit; default true, unless dialect and legacy are both off. */
  readonly limit?: boolean
  /** X-RateLimit-Remaining; default as `limit`. */
  readonly remaining?: boolean
  /** Retry-After on a denial that waiting can cure; default true. */
  readonly retryAfter?: boolean
  /** What a refusal says beside; default nothing. */
  readonly refusal?: RefusalHeaders
}

/** A refusal in the manner of Fairvisor's Token Bucket. */
export interface RefusalHeaders {
  /** Name of the field that says why. */
  readonly field: string
  /** Its value for each reason of a decision; no field for a reason that is not here. */
  readonly reasons: Readonly<Partial<Record<string, string>>>
  /** What limits that refused say is left, whatever is. */
  readonly remaining: 0
}

/** The same with every default filled in. */
export type HeaderChoice = Required<Omit<HeaderOptions, 'refusal'>> & Pick<HeaderOptions, 'refusal'>

const KNOWN = ['dialect', 'legacy', 'limit', 'remaining', 'retryAfter', 'refusal']

/**
 * @param where begins the message of a refusal
 * @throws LimiterError INVALID_OPTIONS for an unknown name or value
 */
export function headerChoice(options: HeaderOptions = {}, where: string = 'headers'): HeaderChoice {
  if (typeof options !== 'object' || options === null)
    throw new LimiterError('INVALID_OPTIONS', `${where} is ${JSON.stringify(options)}, expected an object such as { dialect: "draft-7" }`)
  refuseUnknown(where, options, KNOWN)
  const dialect = oneOf(`${where}: dialect`, options.dialect ?? 'draft-11', DIALECTS)
  const legacy = oneOf(`${where}: legacy`, options.legacy ?? 'off', LEGACY)
  const silent = dialect === 'off' && legacy === 'off'
  const flag = (name: 'limit' | 'remaining' | 'retryAfter', otherwise: boolean): boolean =>
    oneOf(`${where}: ${name}`, options[name] ?? otherwise, [true, false])
  return Object.freeze({
    dialect,
    legacy,
    limit: flag('limit', !silent),
    remaining: flag('remaining', !silent),
    retryAfter: flag('retryAfter', true),
    ...(options.refusal === undefined ? {} : { refusal: options.refusal }),
  })
}

function oneOf<T>(where: string, value: T, allowed: readonly T[]): T {
  if (allowed.includes(value)) return value
  throw new LimiterError('INVALID_OPTIONS', `${where} is ${JSON.stringify(value)}, expected ${allowed.map(String).join(', ')}`)
}
