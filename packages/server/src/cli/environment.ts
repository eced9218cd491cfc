import { nearest } from 'sluice/policy'
import { wrongValue } from './failure.ts'
import { type Flag, flagsOf, variableOfWord } from './flags.ts'
import type { Verb } from './verb.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const YES = new Set(['true', '1', 'yes', 'on'])
const NO = new Set(['false', '0', 'no', 'off'])
/** Matches the ends of variables that Kubernetes sets for a Service named `sluice...`. */
const OF_KUBERNETES = /_(?:SERVICE_(?:HOST|PORT(?:_\w+)?)|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/
/** Variables of the repository's scripts and tests, which run the command too. */
const OF_TESTS = new Set(['SLUICE_REQUIRE', 'SLUICE_REDIS_URL', 'SLUICE_POSTGRES_URL', 'SLUICE_NO_INSTALL'])

/**
 * The values of a flag's variable; undefined if it is absent or empty, or turns a switch off. Line breaks separate several values, or
 * commas if there is no line break.
 * @throws CommandFailure exit 3 for a switch whose variable is neither yes nor no
 */
export function valuesFrom(env: Environment, { variable, value, repeats }: Pick<Flag, 'variable' | 'value' | 'repeats'>) {
  const text = (env[variable] ?? '').trim()
  if (text === '') return undefined
  if (value === '') {
    if (NO.has(text.toLowerCase())) return undefined
    if (!YES.has(text.toLowerCase())) throw wrongValue(variable, text, 'true or false (also 1, yes, on; 0, no, off)')
    return ['']
  }
  if (!repeats) return [text]
  const parts = text.split(text.includes('\n') ? '\n' : ',').map((part) => part.trim())
  return parts.filter((part) => part !== '')
}

/** A misspelt variable SLUICE_* would have no effect. */
export function unknownVariables(env: Environment, verbs: readonly Verb[]): string[] {
  const ofWords = verbs.flatMap(({ words }) => words.flatMap((word) => variableOfWord(word) ?? []))
  const known = [...new Set([...verbs.flatMap((verb) => flagsOf(verb).map(({ variable }) => variable)), ...ofWords])]
  const given = Object.keys(env).filter((name) => name.startsWith('SLUICE_') && (env[name] ?? '') !== '')
  return given
    .filter((name) => !known.includes(name) && !OF_TESTS.has(name) && !OF_KUBERNETES.test(name))
    .map((name) => {
      const meant = nearest(name, known) ?? known.find((one) => one.startsWith(name))
      return `${name} sets nothing: no flag has this variable${meant === undefined ? '' : ` (did you mean ${meant}?)`}`
    })
}
