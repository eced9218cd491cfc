import cluster from 'node:cluster'
import { createRequire } from 'node:module'
import { LimiterError, StoreFailure } from 'sluice'
import { auditVerb } from '../commands/audit.ts'
import { checkVerb } from '../commands/check.ts'
import { completionVerb } from '../commands/completion.ts'
import { explainVerb } from '../commands/explain.ts'
import { keyVerbs } from '../commands/keys.ts'
import { migrateVerb } from '../commands/migrate.ts'
import { regionsVerb } from '../commands/regions.ts'
import { serveVerb } from '../commands/serve.ts'
import { verifyVerb } from '../commands/verify.ts'
import { CommandFailure, EXIT, usage } from './failure.ts'
import { parseArguments, suggestion } from './parse-arguments.ts'
import { unknownVariables } from './environment.ts'
import { flagsOf, nameOfWord, variableOfWord } from './flags.ts'
import { type Io, warningTo } from './io.ts'
import { withoutLogins } from './secrets.ts'
import type { ParsedArguments, Verb } from './verb.ts'
import { withoutPassword } from '../stores/store-name.ts'

const { version } = createRequire(import.meta.url)('../../package.json') as { readonly version: string }
const EXITS = 'exit codes: 0 ok, 1 failed, 2 a server could not be reached, 3 usage\n'
const VARIABLES = 'in brackets: the environment variable that is used without the flag; empty is as unset\n'
const WORKING: readonly Verb[] = [serveVerb, checkVerb, explainVerb, ...keyVerbs, regionsVerb, verifyVerb, auditVerb, migrateVerb]
export const VERBS: readonly Verb[] = [...WORKING, completionVerb(WORKING)]

/** Runs the command. Resolves with its exit code; errors are written to `io.err`. */
export async function command(args: readonly string[], io: Io): Promise<number> {
  try {
    await run(args, io)
    return EXIT.ok
  } catch (error) {
    const line = withoutLogins(lineOf(error))
    // Empty if a worker failed: the worker has printed the reason.
    if (line !== '') io.err(`sluice: ${line}\n`)
    return error instanceof CommandFailure ? error.exitCode : EXIT.failed
  }
}

async function run(args: readonly string[], io: Io): Promise<void> {
  const [first, ...rest] = args
  const named = first === 'help' ? rest[0] : isHelp(first) ? undefined : first
  const verb = VERBS.find(({ name }) => name === named)
  const help = first === 'help' || isHelp(first) || (verb !== undefined && flagsBefore(rest).some(isHelp))
  if (verb !== undefined && !help) return runVerb(verb, rest, io)
  if (first === '--version' || first === '-v') return io.out(`sluice ${version}\n`)
  if (verb === undefined && named !== undefined) {
    const names = VERBS.map(({ name }) => name)
    throw usage(`unknown command ${named}${suggestion(named, names, '')}; "sluice --help" lists them`)
  }
  if (!help) throw usage('no command given; "sluice --help" lists them')
  io.out(verb === undefined ? overview() : helpOf(verb))
}

async function runVerb(verb: Verb, rest: readonly string[], io: Io): Promise<void> {
  // The primary process of `serve` has written these warnings.
  if (!cluster.isWorker) for (const line of unknownVariables(io.env, VERBS)) warningTo(io)(line)
  const args = parseArguments(verb, rest, io.env)
  try {
    await verb.run(args, io)
  } catch (error) {
    throw error instanceof CommandFailure ? withVariables(error, verb, args, io) : error
  }
}

/** Names the variable whose value a message shows: the command line does not show the value. */
function withVariables(error: CommandFailure, verb: Verb, args: ParsedArguments, io: Io): CommandFailure {
  const ofWord = verb.words.flatMap((word) => variableOfWord(word) ?? []).filter((name) => io.env[name] === args.words[0])
  const ofFlags = flagsOf(verb).filter(({ name, value }) => value !== '' && args.origin(name) === 'variable')
  const shown = [...ofWord, ...ofFlags.map(({ variable }) => variable)].filter((name) => {
    const value = (io.env[name] ?? '').trim()
    const isIn = error.message.includes(value) || error.message.includes(withoutPassword(value))
    return value !== '' && isIn && !/^\d+$/.test(value) && !error.message.includes(name)
  })
  if (shown.length === 0) return error
  return new CommandFailure(error.exitCode, `${error.message} (from ${shown.join(' and ')})`, { cause: error.cause })
}

/** Words after `--` are values, such as a key `-h`. */
function flagsBefore(words: readonly string[]): readonly string[] {
  const end = words.indexOf('--')
  return end === -1 ? words : words.slice(0, end)
}

function isHelp(word: string | undefined): boolean {
  return word === '--help' || word === '-h'
}

function lineOf(error: unknown): string {
  if (error instanceof CommandFailure || error instanceof LimiterError || error instanceof StoreFailure) return error.message.trimEnd()
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function overview(): string {
  const verbs = columns(VERBS.map(({ name, does }) => [name, does]))
  return `usage: sluice VERB [ARGUMENTS]\n\n${verbs}\n"sluice VERB --help" lists its arguments, "sluice --version" which version this is\n${EXITS}`
}

function helpOf(verb: Verb): string {
  const { name, words, does, examples } = verb
  const flags = flagsOf(verb)
  const rows = flags.map(({ name: flag, value, repeats, does: what, variable }): [string, string] => [
    `--${flag}${value === '' ? '' : ` ${value}`}`,
    `${what}${repeats ? '; may be repeated' : ''} [${variable}]`,
  ])
  const [first] = words
  const variable = variableOfWord(first ?? '')
  if (first !== undefined) rows.push(['--', `before a ${nameOfWord(first)} that begins with -`])
  if (variable !== undefined) rows.push([nameOfWord(first ?? ''), `also from the environment [${variable}]`])
  const lines = examples.map((example) => `  sluice ${example}\n`).join('')
  const usageLine = `usage: sluice ${[name, '[FLAGS]', ...words].join(' ')}`
  return `${usageLine}\n\n${does}\n\n${columns(rows)}\n${VARIABLES}\nexamples:\n${lines}\n${EXITS}`
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join('')
}
