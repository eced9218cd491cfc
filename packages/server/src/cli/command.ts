import { readFileSync } from 'node:fs'
import { LimiterError } from 'sluice'
import { checkVerb } from '../commands/check.ts'
import { explainVerb } from '../commands/explain.ts'
import { inspectVerb } from '../commands/inspect.ts'
import { blockVerb, resetVerb, unblockVerb } from '../commands/key-changes.ts'
import { migrateVerb } from '../commands/migrate.ts'
import { serveVerb } from '../commands/serve-verb.ts'
import { verifyVerb } from '../commands/verify.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { parseArguments, suggestion } from './parse-arguments.ts'
import { helpOf, overview } from './help.ts'
import type { Io } from './io.ts'
import type { Verb } from './verb.ts'
import { WorkerFailure } from '../workers/supervise.ts'

const VERBS: readonly Verb[] = [serveVerb, checkVerb, explainVerb, inspectVerb, resetVerb, blockVerb, unblockVerb, verifyVerb, migrateVerb]

/** Runs the command with the given arguments and resolves with its exit code. It writes an error to `io.err`, in one line. */
export async function command(args: readonly string[], io: Io): Promise<number> {
  try {
    await run(args, io)
    return EXIT.ok
  } catch (error) {
    // The worker that failed has already printed the reason.
    if (error instanceof WorkerFailure) return error.exitCode
    io.err(`sluice: ${lineOf(error)}\n`)
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
    throw new CommandFailure(EXIT.usage, `unknown command ${unknown}${suggestion(unknown, names, '')}; "sluice --help" lists them`)
  }
  if (!help) throw new CommandFailure(EXIT.usage, 'no command given; "sluice --help" lists them')
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
