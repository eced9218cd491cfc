import { parseArgs } from 'node:util'
import { nearest } from 'sluice/policy'
import { type CommandFailure, usage } from './failure.ts'
import type { ParsedArguments, Verb } from './verb.ts'

/**
 * Parses a verb's arguments. Unknown flags are rejected, because a typo would silently remove a limit.
 * @throws CommandFailure exit 3 that names the argument, and the nearest flag if one was probably meant
 */
export function parseArguments(verb: Verb, args: readonly string[]): ParsedArguments {
  const wrong = (message: string): CommandFailure => usage(`${verb.name}: ${message}; "sluice ${verb.name} --help" says what it takes`)
  const flags = new Map(Object.entries(verb.flags))
  const options = Object.fromEntries(
    [...flags].map(([name, flag]) => [name, { type: flag.value === undefined ? 'boolean' : 'string' } as const]),
  )
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true })
  const words: string[] = []
  const values = new Map<string, string[]>()
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const flag = flags.get(name)
    if (flag === undefined) throw wrong(`unknown flag ${rawName}${suggestion(name, [...flags.keys()])}`)
    if (flag.value === undefined && value !== undefined) throw wrong(`${rawName} takes no value`)
    if (flag.value !== undefined && (value === undefined || value === '' || (!inlineValue && value.startsWith('--'))))
      throw wrong(`${rawName} needs a value: ${rawName} ${flag.value}`)
    const before = values.get(name)
    if (before !== undefined && flag.repeat !== true) throw wrong(`${rawName} is given twice`)
    values.set(name, [...(before ?? []), value ?? ''])
  }
  const required = verb.words.filter((word) => !word.startsWith('['))
  if (words.length < required.length) throw wrong(`${required.slice(words.length).join(' and ')} is missing`)
  if (words.length > verb.words.length) throw wrong(`unexpected ${JSON.stringify(words[verb.words.length])}`)
  return {
    words,
    switch: (name) => values.has(name),
    text: (name) => values.get(name)?.[0],
    texts: (name) => values.get(name) ?? [],
  }
}

/** The end of a sentence about a misspelt name: the name that was probably meant, or an empty text. */
export function suggestion(name: string, known: readonly string[], dashes: string = '--'): string {
  const meant = nearest(name, known)
  return meant === undefined ? '' : ` (did you mean ${dashes}${meant}?)`
}

/** The number of a flag. @throws CommandFailure exit 3 for anything but a whole number in the range */
export function wholeNumber(args: ParsedArguments, flag: string, fallback: number, min: number, max: number): number {
  const text = args.text(flag)
  if (text === undefined) return fallback
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw usage(`--${flag} is ${JSON.stringify(text)}: expected a whole number from ${min} to ${max}`)
}
