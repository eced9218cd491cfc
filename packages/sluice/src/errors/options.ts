import { LimiterError } from './limiter-error.ts'

const MAX_SHOWN_LENGTH = 80

/** Also for values that JSON cannot represent (NaN, functions, bigints). */
export function shown(value: unknown): string {
  const text = textOf(value)
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}...` : text
}

function textOf(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return String(value)
  const parent: unknown = Object.getPrototypeOf(value)
  if (typeof value === 'object' && parent !== null && parent !== Object.prototype && !Array.isArray(value)) {
    return `an object of the class ${value.constructor?.name ?? 'unknown'}`
  }
  try {
    return JSON.stringify(value) ?? 'an object'
  } catch {
    return 'an object'
  }
}

/**
 * A typo would silently remove a limit. Maps and promises are refused, because they have no fields to check.
 * @throws LimiterError INVALID_OPTIONS naming the unknown option and the known ones
 */
export function refuseUnknown(where: string, options: object, known: readonly string[]): void {
  let hasKnown = false
  if (isObject(options)) {
    // Every request may have options, and with Object.keys an array of their names would cost more than the check.
    for (const name in options) {
      if (!known.includes(name)) {
        throw new LimiterError('INVALID_OPTIONS', `${where}: unknown option ${name}; known are ${known.join(', ')}`)
      }
      hasKnown = true
    }
    if (hasKnown || !(Symbol.iterator in options || 'then' in options)) return
  }
  throw new LimiterError('INVALID_OPTIONS', `${where}: options are ${shown(options)}, expected an object with ${known.join(', ')}`)
}

/** A test of a value, and the allowed values in words. */
export type Form = readonly [allows: (value: unknown) => boolean, expected: string]

export function hasMethods(value: unknown, ...methods: readonly string[]): boolean {
  return methods.every((method) => typeof (value as Record<string, unknown> | null | undefined)?.[method] === 'function')
}

/** @throws LimiterError INVALID_OPTIONS that names the first missing method */
export function requireMethods(where: string, expected: string, client: object, methods: readonly string[]): void {
  const missing = methods.find((method) => !hasMethods(client, method))
  if (missing === undefined) return
  throw new LimiterError('INVALID_OPTIONS', `${where}: expected ${expected}, but it has no method ${missing}`)
}

export function having(expected: string, ...methods: readonly string[]): Form {
  return [(value) => hasMethods(value, ...methods), expected]
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** For options that other code checks. */
export const ANY: Form = [() => true, '']
export const TEXT: Form = [(value) => typeof value === 'string', 'a text']
export const FLAG: Form = [(value) => typeof value === 'boolean', 'true or false']
export const FUNCTION: Form = [(value) => typeof value === 'function', 'a function']
export const OBJECT: Form = [isObject, 'an object']
export const COUNT: Form = [(value) => Number.isSafeInteger(value) && (value as number) > 0, 'a whole number above 0']
export const LIST: Form = [(value) => Array.isArray(value), 'a list']
export const TEXTS: Form = [(value) => Array.isArray(value) && value.every((one) => typeof one === 'string'), 'a list of texts']
export const OBSERVERS: Form = [(value) => Array.isArray(value) && value.every(isObject), 'a list of observers']
export const CLOCK: Form = having('a clock with now, monotonic and after', 'now', 'monotonic', 'after')
export const SIGNAL: Form = having('an AbortSignal', 'addEventListener')
export const STORE: Form = [isStore, 'a store, such as memoryStore()']
export const DECISION: Form = [
  (value) => typeof (value as { readonly outcome?: unknown } | null | undefined)?.outcome === 'string',
  'a decision of a limiter or an engine',
]
export const LIMIT: Form = [
  (value) => hasMethods((value as { readonly algorithm?: unknown } | null | undefined)?.algorithm, 'decide'),
  'a limit, such as tokenBucket(...)',
]
/** At most a minute: no caller waits longer for a decision. */
export const MILLISECONDS: Form = [
  (value) => typeof value === 'number' && value > 0 && value <= 60_000,
  'a number of milliseconds above 0 and at most 60000',
]

/** A store with `capabilities.sync` true must also have `decideNow`. */
function isStore(value: unknown): boolean {
  if (!hasMethods(value, 'decide', 'change', 'ready', 'close')) return false
  const { name, capabilities } = value as { readonly name?: unknown; readonly capabilities?: { changes?: unknown; sync?: unknown } | null }
  if (typeof name !== 'string' || !Array.isArray(capabilities?.changes)) return false
  return capabilities.sync === false || (capabilities.sync === true && hasMethods(value, 'decideNow'))
}

export function within(least: number, most: number): Form {
  return [(value) => typeof value === 'number' && value >= least && value <= most, `${least} to ${most}`]
}

/** Work that can wait longer belongs in a queue that outlives the process. */
export const MAX_WAIT_MS = 86_400_000
export const WAIT_MS: Form = within(0, MAX_WAIT_MS)

/** What is reserved for longer belongs in the application's own database. */
const MAX_HOLD_MS = 86_400_000
export const HOLD_FORM: Form = [
  (value) => typeof value === 'number' && value > 0 && value <= MAX_HOLD_MS,
  `a number of milliseconds above 0 and at most ${MAX_HOLD_MS}`,
]

export function oneOf(...allowed: readonly unknown[]): Form {
  return [(value) => allowed.includes(value), allowed.join(', ').replace(/, (?=[^,]*$)/, ' or ')]
}

/**
 * A number given as text is refused, because `now + '50'` would append the digits.
 * @throws LimiterError INVALID_OPTIONS naming the option, the value and what is allowed
 */
export function requireForm(where: string, name: string, value: unknown, form: Form): void {
  // Destructuring an array would create an iterator for every request.
  if (!form[0](value)) throw new LimiterError('INVALID_OPTIONS', `${where}: ${name} is ${shown(value)}, expected ${form[1]}`)
}

/** Undefined options count as absent. @throws LimiterError INVALID_OPTIONS */
export function checkOptions(where: string, options: object, forms: Readonly<Record<string, Form>>): void {
  refuseUnknown(where, options, Object.keys(forms))
  for (const [name, form] of Object.entries(forms)) {
    const value = (options as Record<string, unknown>)[name]
    if (value !== undefined) requireForm(where, name, value, form)
  }
}

/** Options of which none is absent. `Required` would keep the `undefined` of an option that may be passed as such. */
export type Complete<Options> = { readonly [Name in keyof Options]-?: Exclude<Options[Name], undefined> }

/** Undefined options count as absent, as in `checkOptions`. A spread over the defaults would put undefined in their place. */
export function withDefaults<Options extends object>(
  defaults: Options,
  options: { readonly [Name in keyof NoInfer<Options>]?: NoInfer<Options>[Name] | undefined },
): Options {
  return { ...defaults, ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) }
}
