import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'

/** Names of options as a lookup table, for every call that has options. */
export type OptionNames = Readonly<Record<string, true>>

export const WAIT: OptionNames = { deadlineMs: true, signal: true }
export const CHECK: OptionNames = { ...WAIT, cost: true }
export const REFUND: OptionNames = { ...CHECK, receipt: true }
export const REQUEST: OptionNames = { key: true, cost: true }
export const COST: OptionNames = { cost: true }

/**
 * Requires options to be an object and rejects unknown ones, because a misspelt cost would charge 1. Rejects lists, Maps and promises for
 * the same reason: they have no fields to check.
 * @throws LimiterError INVALID_OPTIONS naming the unknown option and the known ones
 */
export function requireOptions(where: string, options: object, known: OptionNames): void {
  if (typeof options !== 'object' || options === null) throw refused(where, `options are ${shown(options)}`, known)
  // Not Object.keys: a copy of the names would cost more than the check.
  let isEmpty = true
  for (const name in options) {
    if (known[name] !== true) throw refused(where, `unknown option ${name}`, known)
    isEmpty = false
  }
  // Options with a known field skip this check.
  if (isEmpty && (Symbol.iterator in options || 'then' in options)) throw refused(where, `options are ${shown(options)}`, known)
}

function refused(where: string, what: string, known: OptionNames): LimiterError {
  return new LimiterError('INVALID_OPTIONS', `${where}: ${what}, expected an object with ${Object.keys(known).join(', ')}`)
}
