import { parseArgs } from 'node:util'
import { nearest } from 'sluice/policy'
import { type Environment, valuesFrom } from './environment.ts'
import { type CommandFailure, usage, wrongValue } from './failure.ts'
import { type Flag, flagsOf, variableOfWord } from './flags.ts'
import type { ParsedArguments, Verb } from './verb.ts'

/** Not yet completed from environment variables. */
interface Line {
  readonly words: readonly string[]
  readonly values: ReadonlyMap<string, readonly string[]>
}

type Wrong = (message: string) => CommandFailure

/**
 * An absent flag gets the value of its environment variable.
 * @throws CommandFailure exit 3 that names the argument or the variable
 */
export function parseArguments(verb: Verb, args: readonly string[], env: Environment): ParsedArguments {
  const help = `"sluice ${verb.name} --help" says what it takes`
  const wrong: Wrong = (message) => usage(`${verb.name}: ${message}; ${help}`)
  const flags = flagsOf(verb)
  const { words: given, values } = parseLine(flags, args, wrong)
  const variables = new Map<string, readonly string[]>()
  for (const flag of flags) {
    const found = values.has(flag.name) ? undefined : valuesFrom(env, flag)
    if (found !== undefined) variables.set(flag.name, found)
  }
  const words = completed(verb, given, env, wrong)
  const valuesOf = (name: string): readonly string[] => values.get(name) ?? variables.get(name) ?? []
  const variable = new Map(flags.map((flag) => [flag.name, flag.variable]))
  return {
    words,
    switch: (name) => values.has(name) || variables.has(name),
    text: (name) => valuesOf(name)[0],
    texts: valuesOf,
    origin: (name) => (values.has(name) ? 'flag' : variables.has(name) ? 'variable' : undefined),
    called: (name) => (variables.has(name) ? (variable.get(name) as string) : `--${name}`),
  }
}

function parseLine(flags: readonly Flag[], args: readonly string[], wrong: Wrong): Line {
  const known = new Map(flags.map((flag) => [flag.name, flag]))
  const options = Object.fromEntries(flags.map(({ name, value }) => [name, { type: value === '' ? 'boolean' : 'string' } as const]))
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true })
  const words: string[] = []
  const values = new Map<string, string[]>()
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const flag = known.get(name)
    if (flag === undefined) throw wrong(`unknown flag ${rawName}${suggestion(name, [...known.keys()])}`)
    const isSwitch = flag.value === ''
    if (isSwitch && value !== undefined) throw wrong(`${rawName} takes no value`)
    if (!isSwitch && (value === undefined || value === '' || (!inlineValue && value.startsWith('--'))))
      throw wrong(`${rawName} needs a value: ${rawName} ${flag.value}`)
    const before = values.get(name) ?? []
    if (before.length > 0 && !flag.repeats) throw wrong(`${rawName} is given twice`)
    values.set(name, [...before, value ?? ''])
  }
  return { words, values }
}

function completed({ words: declared }: Verb, given: readonly string[], env: Environment, wrong: Wrong): readonly string[] {
  const variable = variableOfWord(declared[0] ?? '')
  const first = variable === undefined || given.length > 0 ? undefined : valuesFrom(env, { variable, value: 'FILE', repeats: false })
  const words = first ?? given
  const required = declared.filter((word) => !word.startsWith('['))
  if (words.length < required.length) throw wrong(`${required.slice(words.length).join(' and ')} is missing`)
  if (words.length > declared.length) throw wrong(`unexpected ${JSON.stringify(words[declared.length])}`)
  // An empty argument is most often a shell variable that is not set.
  const empty = words.indexOf('')
  if (empty !== -1) throw wrong(`${(declared[empty] ?? '').replaceAll(/[[\]]/g, '')} is empty`)
  return words
}

/** Empty if no known name is similar. */
export function suggestion(name: string, known: readonly string[], dashes: string = '--'): string {
  const meant = nearest(name, known)
  return meant === undefined ? '' : ` (did you mean ${dashes}${meant}?)`
}

/** @throws CommandFailure exit 3 for a value that is not one of `allowed` */
export function oneOf<T extends string>(args: ParsedArguments, flag: string, allowed: readonly T[], fallback: T): T {
  const text = args.text(flag)
  const found = text === undefined ? fallback : allowed.find((value) => value === text)
  if (found === undefined) throw wrongValue(args.called(flag), text, `one of ${allowed.join(', ')}`)
  return found
}

/** @throws CommandFailure exit 3 for a value that is not a whole number from `min` to `max` */
export function wholeNumber<F>(args: ParsedArguments, flag: string, fallback: F, min: number, max: number): number | F {
  const text = args.text(flag)
  if (text === undefined) return fallback
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw wrongValue(args.called(flag), text, `a whole number from ${min} to ${max}`)
}
