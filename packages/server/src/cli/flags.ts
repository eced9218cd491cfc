import type { Verb } from './verb.ts'

/** A flag as its verb declares it. */
export interface Flag {
  readonly name: string
  /** The name of the flag's value in the help; empty for a switch. */
  readonly value: string
  readonly repeats: boolean
  readonly does: string
  /** The environment variable that sets the flag. */
  readonly variable: string
}

/**
 * The only positional argument that an environment variable (`SLUICE_POLICY`) can replace, because containers are often configured by
 * variables alone.
 */
const POLICY = 'POLICY'

/** The flags of a verb, from its declaration: `json` is a switch, `store URL` needs a value, `header NAME:VALUE...` may be repeated. */
export function flagsOf(verb: Pick<Verb, 'flags'>): Flag[] {
  return Object.entries(verb.flags).map(([form, does]) => {
    const [name = '', value = ''] = form.replace('...', '').split(' ')
    return { name, value, repeats: form.endsWith('...'), does, variable: variableOf(name) }
  })
}

/** The environment variable of a flag: `SLUICE_ADMIN_TOKEN_FILE` for `admin-token-file`. */
export function variableOf(flag: string): string {
  return `SLUICE_${flag.toUpperCase().replaceAll('-', '_')}`
}

/** The environment variable that replaces a positional argument: `SLUICE_POLICY` for POLICY, undefined for others. */
export function variableOfWord(word: string): string | undefined {
  return nameOfWord(word) === POLICY ? variableOf(POLICY) : undefined
}

/** The name of a positional argument, without the brackets that mark it as optional. */
export function nameOfWord(word: string): string {
  return word.replaceAll(/[[\]]/g, '')
}
