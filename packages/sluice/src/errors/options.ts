import { LimiterError } from './limiter-error.ts'

const MAX_SHOWN_LENGTH = 80

/** A value in one line for an error message, including values that JSON cannot represent, such as NaN, functions and bigints. */
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
 * Options must be an object, and unknown ones are rejected, because a typo would silently remove a limit. Maps and promises are rejected
 * for the same reason: they have no fields to check.
 * @throws LimiterError INVALID_OPTIONS naming the unknown option and the known ones
 */
export function refuseUnknown(where: string, options: object, known: readonly string[]): void {
  let hasKnown = false
  if (isObject(options)) {
    // Not Object.keys: requests have options too, and a copy of the names would cost more than the check.
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

/** The form of an option: a test, and the text that a message uses for it. */
export type Form = readonly [allows: (value: unknown) => boolean, expected: string]

function has(value: unknown, ...methods: readonly string[]): boolean {
  return methods.every((method) => typeof (value as Record<string, unknown> | null | undefined)?.[method] === 'function')
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Accepts any value: another reader checks it. */
export const ANY: Form = [() => true, '']
export const TEXT: Form = [(value) => typeof value === 'string', 'a text']
export const FLAG: Form = [(value) => typeof value === 'boolean', 'true or false']
export const FUNCTION: Form = [(value) => typeof value === 'function', 'a function']
export const OBJECT: Form = [isObject, 'an object']
export const COUNT: Form = [(value) => Number.isSafeInteger(value) && (value as number) > 0, 'a whole number above 0']
export const LIST: Form = [(value) => Array.isArray(value), 'a list']
export const TEXTS: Form = [(value) => Array.isArray(value) && value.every((one) => typeof one === 'string'), 'a list of texts']
export const OBSERVERS: Form = [(value) => Array.isArray(value) && value.every(isObject), 'a list of observers']
export const CLOCK: Form = [(value) => has(value, 'now', 'monotonic', 'after'), 'a clock with now, monotonic and after']
export const SIGNAL: Form = [(value) => has(value, 'addEventListener'), 'an AbortSignal']
export const STORE: Form = [isStore, 'a store, such as memoryStore()']
export const DECISION: Form = [
  (value) => typeof (value as { readonly outcome?: unknown } | null | undefined)?.outcome === 'string',
  'a decision of a limiter or an engine',
]
/** At most a minute: no caller waits longer for a decision. */
export const MILLISECONDS: Form = [
  (value) => typeof value === 'number' && value > 0 && value <= 60_000,
  'a number of milliseconds above 0 and at most 60000',
]

/** Whether a value has the members of the port for stores. A store that says it always decides at once has `decideNow`. */
function isStore(value: unknown): boolean {
  if (!has(value, 'decide', 'change', 'ready', 'close')) return false
  const { name, capabilities } = value as { readonly name?: unknown; readonly capabilities?: { changes?: unknown; sync?: unknown } | null }
  if (typeof name !== 'string' || !Array.isArray(capabilities?.changes)) return false
  return capabilities.sync === false || (capabilities.sync === true && has(value, 'decideNow'))
}

/** Accepts a number from `least` to `most`. */
export function within(least: number, most: number): Form {
  return [(value) => typeof value === 'number' && value >= least && value <= most, `${least} to ${most}`]
}

export function oneOf(...allowed: readonly unknown[]): Form {
  return [(value) => allowed.includes(value), allowed.join(', ').replace(/, (?=[^,]*$)/, ' or ')]
}

/**
 * Requires a value of this form. Numbers in text are refused: `now + '50'` would be a deadline that has always passed.
 * @throws LimiterError INVALID_OPTIONS naming the option, the value and what is allowed
 */
export function requireForm(where: string, name: string, value: unknown, form: Form): void {
  // Indexed access: every request comes here, and destructuring would create an iterator.
  if (!form[0](value)) throw new LimiterError('INVALID_OPTIONS', `${where}: ${name} is ${shown(value)}, expected ${form[1]}`)
}

/**
 * Checks options by a table of their forms. Undefined options count as absent.
 * @throws LimiterError INVALID_OPTIONS for an unknown option or a wrong value, naming what is allowed
 */
export function checkOptions(where: string, options: object, forms: Readonly<Record<string, Form>>): void {
  refuseUnknown(where, options, Object.keys(forms))
  for (const [name, form] of Object.entries(forms)) {
    const value = (options as Record<string, unknown>)[name]
    if (value !== undefined) requireForm(where, name, value, form)
  }
}
