import { readFileSync } from 'node:fs'
import { LimiterError } from 'sluice'
import { checkVerb } from '../commands/check.ts'
import { explainVerb } from '../commands/explain.ts'
import { keyVerbs } from '../commands/keys.ts'
import { migrateVerb } from '../commands/migrate.ts'
import { serveVerb } from '../commands/serve-verb.ts'
import { verifyVerb } from '../commands/verify.ts'
import { CommandFailure, EXIT, usage } from './failure.ts'
import { parseArguments, suggestion } from './parse-arguments.ts'
import type { Io } from './io.ts'
import type { Verb } from './verb.ts'

const EXITS = 'exit codes: 0 ok, 1 failed, 2 a server could not be reached, 3 usage\n'
const VERBS: readonly Verb[] = [serveVerb, checkVerb, explainVerb, ...keyVerbs, verifyVerb, migrateVerb]

/** Runs the command with the given arguments and resolves with its exit code. It writes an error to `io.err`, in one line. */
export async function command(args: readonly string[], io: Io): Promise<number> {
  try {
    await run(args, io)
    return EXIT.ok
  } catch (error) {
    const line = lineOf(error)
    // Empty if a worker failed, which has already printed the reason.
    if (line !== '') io.err(`sluice: ${line}\n`)
    return error instanceof CommandFailure ? error.exitCode : EXIT.failed
  }
}

async function run(args: readonly string[], io: Io): Promise<void> {
  const [first, ...rest] = args
  const verb = VERBS.find(({ name }) => name === (first === 'help' ? rest[0] : first))
  const help = first === 'help' || isHelp(first) || (verb !== undefined && rest.some(isHelp))
  if (verb !== undefined && !help) return verb.run(parseArguments(verb, rest), io)
  if (first === '--version' || first === '-v') return io.out(`${version()}\n`)
  const unknown = first === 'help' ? rest[0] : isHelp(first) ? undefined : first
  if (verb === undefined && unknown !== undefined) {
    const names = VERBS.map(({ name }) => name)
    throw usage(`unknown command ${unknown}${suggestion(unknown, names, '')}; "sluice --help" lists them`)
  }
  if (!help) throw usage('no command given; "sluice --help" lists them')
  io.out(verb === undefined ? overview(VERBS) : helpOf(verb))
}

function isHelp(word: string | undefined): boolean {
  return word === '--help' || word === '-h'
}

function version(): string {
  const { version: text } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  return `sluice ${text}`
}

/** The text of an error: one line for a mistake of the user, the stack for an error of ours. */
function lineOf(error: unknown): string {
  if (error instanceof CommandFailure || error instanceof LimiterError) return error.message.trimEnd()
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function overview(verbs: readonly Verb[]): string {
  const width = Math.max(...verbs.map(({ name }) => name.length))
  const lines = verbs.map(({ name, does }) => `  ${name.padEnd(width)}  ${does}`)
  return `usage: sluice VERB [ARGUMENTS]\n\n${lines.join('\n')}\n\n"sluice VERB --help" lists its arguments, "sluice --version" which version this is\n${EXITS}`
}

function helpOf({ name, words, does, flags, examples }: Verb): string {
  const rows = Object.entries(flags).map(([flag, { value, does: what, repeat }]): [string, string] => [
    `--${flag}${value === undefined ? '' : ` ${value}`}`,
    repeat === true ? `${what}; may be repeated` : what,
  ])
  const width = Math.max(0, ...rows.map(([left]) => left.length))
  return [
    `usage: sluice ${name}${rows.length === 0 ? '' : ' [FLAGS]'} ${words.join(' ')}`.trimEnd(),
    '',
    does,
    '',
    ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`),
    ...(words.length === 0 ? [] : [`  ${'--'.padEnd(width)}  before a ${words[0]?.replaceAll(/[[\]]/g, '') ?? ''} that begins with -`]),
    '',
    'examples:',
    ...examples.map((example) => `  sluice ${example}`),
    '',
    EXITS,
  ].join('\n')
}
