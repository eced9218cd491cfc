import { checkOptions, FLAG, type Form, OBJECT, oneOf } from '../errors/options.ts'

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

const FORMS: Readonly<Record<string, Form>> = {
  dialect: oneOf(...DIALECTS),
  legacy: oneOf(...LEGACY),
  limit: FLAG,
  remaining: FLAG,
  retryAfter: FLAG,
  refusal: OBJECT,
}

/**
 * @param where begins the message of a refusal
 * @throws LimiterError INVALID_OPTIONS for an unknown name or value
 */
export function headerChoice(options: HeaderOptions = {}, where: string = 'headers'): HeaderChoice {
  checkOptions(where, options, FORMS)
  const { dialect = 'draft-11', legacy = 'off' } = options
  const silent = dialect === 'off' && legacy === 'off'
  const { limit = !silent, remaining = !silent, retryAfter = true, refusal } = options
  return Object.freeze({ dialect, legacy, limit, remaining, retryAfter, ...(refusal === undefined ? {} : { refusal }) })
}
