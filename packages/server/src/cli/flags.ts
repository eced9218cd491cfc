import type { Verb } from './verb.ts'

export interface Flag {
  readonly name: string
  /** The value's name in the help; empty for a switch. */
  readonly value: string
  readonly repeats: boolean
  readonly does: string
  readonly variable: string
}

/** Containers are often configured by variables alone, so SLUICE_POLICY can replace this argument. */
const POLICY = 'POLICY'

export function flagsOf(verb: Pick<Verb, 'flags'>): Flag[] {
  return Object.entries(verb.flags).map(([form, does]) => {
    const [name = '', value = ''] = form.replace('...', '').split(' ')
    return { name, value, repeats: form.endsWith('...'), does, variable: variableOf(name) }
  })
}

/** `SLUICE_ADMIN_TOKEN_FILE` for `admin-token-file`. */
export function variableOf(flag: string): string {
  return `SLUICE_${flag.toUpperCase().replaceAll('-', '_')}`
}

/** `SLUICE_POLICY` for POLICY; undefined for other arguments. */
export function variableOfWord(word: string): string | undefined {
  return nameOfWord(word) === POLICY ? variableOf(POLICY) : undefined
}

/** Removes the brackets of an optional argument. */
export function nameOfWord(word: string): string {
  return word.replaceAll(/[[\]]/g, '')
}
