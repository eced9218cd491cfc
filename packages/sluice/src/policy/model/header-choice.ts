import { checkOptions, FLAG, type Form, OBJECT, oneOf } from '../../errors/options.ts'

/** Forms of the fields RateLimit and RateLimit-Policy, by revision of the IETF draft. A response uses one of them, or none. */
export const DIALECTS = ['draft-11', 'draft-7', 'draft-6', 'off'] as const

/** The content of X-RateLimit-Reset: nothing, seconds to wait, or seconds since 1970. */
export const LEGACY = ['off', 'delta', 'epoch'] as const

/** Which header fields are sent. A policy has these fields as its `headers`, and every adapter of a web framework as an option. */
export interface HeaderOptions {
  /** RateLimit, RateLimit-Policy and the triplet RateLimit-Limit, -Remaining and -Reset; default `draft-11`. */
  readonly dialect?: (typeof DIALECTS)[number]
  /** The content of X-RateLimit-Reset; default `off`, which does not send the field. */
  readonly legacy?: (typeof LEGACY)[number]
  /** Whether to send X-RateLimit-Limit; default true, unless dialect and legacy are both off. */
  readonly limit?: boolean
  /** Whether to send X-RateLimit-Remaining; default: the value of `limit`. */
  readonly remaining?: boolean
  /** Whether to send Retry-After on a denial, if the request could pass after a wait; default true. */
  readonly retryAfter?: boolean
  /** Additional header fields of a denial; default none. */
  readonly refusal?: RefusalHeaders
}

/** Additional headers of a denial, as Fairvisor's Token Bucket sends them. */
export interface RefusalHeaders {
  /** Name of the field that gives the reason. */
  readonly field: string
  /** The field's value for each reason of a decision. For a reason that is absent here, the field is not sent. */
  readonly reasons: Readonly<Partial<Record<string, string>>>
  /** The limits that denied the request report this number as remaining, whatever they have left. */
  readonly remaining: 0
}

/** The options with every default filled in. */
export type HeaderChoice = Required<Omit<HeaderOptions, 'refusal'>> & Pick<HeaderOptions, 'refusal'>

const FORMS: Readonly<Record<string, Form>> = {
  dialect: oneOf(...DIALECTS),
  legacy: oneOf(...LEGACY),
  limit: FLAG,
  remaining: FLAG,
  retryAfter: FLAG,
  refusal: OBJECT,
}

/** Fills in the defaults. @throws LimiterError INVALID_OPTIONS for an unknown name or value */
export function headerChoice(options: HeaderOptions = {}): HeaderChoice {
  checkOptions('headers', options, FORMS)
  const { dialect = 'draft-11', legacy = 'off' } = options
  const silent = dialect === 'off' && legacy === 'off'
  const { limit = !silent, remaining = !silent, retryAfter = true, refusal } = options
  return Object.freeze({ dialect, legacy, limit, remaining, retryAfter, ...(refusal === undefined ? {} : { refusal }) })
}
