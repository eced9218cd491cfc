import { checkOptions, type Complete, FLAG, type Form, OBJECT, oneOf } from '../../errors/options.ts'

/** Revisions of the IETF draft of RateLimit and RateLimit-Policy, or none. */
export const DIALECTS = ['draft-11', 'draft-7', 'draft-6', 'off'] as const

/** X-RateLimit-Reset: not sent, seconds to wait, or seconds since 1970. */
export const LEGACY = ['off', 'delta', 'epoch'] as const

/** Which header fields are sent. */
export interface HeaderOptions {
  /** The revision of the IETF draft for the RateLimit fields; default `draft-11`. */
  readonly dialect?: (typeof DIALECTS)[number] | undefined
  /** What X-RateLimit-Reset contains; default `off`: the field is not sent. */
  readonly legacy?: (typeof LEGACY)[number] | undefined
  /** Whether to send X-RateLimit-Limit; default true, unless dialect and legacy are both off. */
  readonly limit?: boolean | undefined
  /** Whether to send X-RateLimit-Remaining; default: the value of `limit`. */
  readonly remaining?: boolean | undefined
  /** Whether a denial has Retry-After if waiting helps; default true. */
  readonly retryAfter?: boolean | undefined
  /** Additional header fields of a denial; default none. */
  readonly refusal?: RefusalHeaders | undefined
}

/** Additional headers of a denial, as Fairvisor's Token Bucket sends them. */
export interface RefusalHeaders {
  /** Name of the field that gives the reason. */
  readonly field: string
  /** By reason of the decision, the field's value; absent: not sent. */
  readonly reasons: Readonly<Partial<Record<string, string>>>
  /** Denying limits report this as remaining, whatever they have left. */
  readonly remaining: 0
}

/** The options with every default filled in. */
export type HeaderChoice = Complete<Omit<HeaderOptions, 'refusal'>> & Pick<HeaderOptions, 'refusal'>

const FORMS: Readonly<Record<string, Form>> = {
  dialect: oneOf(...DIALECTS),
  legacy: oneOf(...LEGACY),
  limit: FLAG,
  remaining: FLAG,
  retryAfter: FLAG,
  refusal: OBJECT,
}

/** @throws LimiterError INVALID_OPTIONS for an unknown name or value */
export function headerChoice(options: HeaderOptions = {}): HeaderChoice {
  checkOptions('headers', options, FORMS)
  const { dialect = 'draft-11', legacy = 'off' } = options
  const silent = dialect === 'off' && legacy === 'off'
  const { limit = !silent, remaining = !silent, retryAfter = true, refusal } = options
  return Object.freeze({ dialect, legacy, limit, remaining, retryAfter, ...(refusal === undefined ? {} : { refusal }) })
}
