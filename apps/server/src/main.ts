#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { LimiterError } from 'sluice'
import { checkVerb } from './commands/check.ts'
import { explainVerb } from './commands/explain.ts'
import { inspectVerb } from './commands/inspect.ts'
import { blockVerb, resetVerb, unblockVerb } from './commands/key-changes.ts'
import { migrateVerb } from './commands/migrate.ts'
import { serveVerb } from './commands/serve-verb.ts'
import { verifyVerb } from './commands/verify.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { readGiven, suggestion } from './given.ts'
import { helpOf, overview } from './help.ts'
import type { Verb } from './verb.ts'
import { WorkerFailure } from './workers/supervise.ts'

const VERBS: readonly Verb[] = [serveVerb, checkVerb, explainVerb, inspectVerb, resetVerb, blockVerb, unblockVerb, verifyVerb, migrateVerb]

async function main(args: readonly string[]): Promise<void> {
  const [first, ...rest] = args
  const verb = VERBS.find(({ name }) => name === (first === 'help' ? rest[0] : first))
  const help = first === 'help' || isHelp(first) || (verb !== undefined && rest.some(isHelp))
  if (verb !== undefined && !help) return verb.run(readGiven(verb, rest))
  if (first === '--version' || first === '-v') return void process.stdout.write(`${version()}\n`)
  const unknown = first === 'help' ? rest[0] : isHelp(first) ? undefined : first
  if (verb === undefined && unknown !== undefined) {
    const names = VERBS.map(({ name }) => name)
    throw new CommandFailure(EXIT.usage, `unknown command ${unknown}${suggestion(unknown, names, '')}; "sluice --help" lists them`)
  }
  if (!help) throw new CommandFailure(EXIT.usage, 'no command given; "sluice --help" lists them')
  process.stdout.write(verb === undefined ? overview(VERBS) : helpOf(verb))
}

function isHelp(word: string | undefined): boolean {
  return word === '--help' || word === '-h'
}

function version(): string {
  const { version: text } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
  return `sluice ${text}`
}

// Whoever reads only the first lines has read what they wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed))

main(process.argv.slice(2)).then(
  () => process.exit(EXIT.ok),
  (error: unknown) => {
    // A worker that failed has said why itself.
    if (error instanceof WorkerFailure) process.exit(error.exitCode)
    process.stderr.write(`sluice: ${lineOf(error)}\n`)
    process.exit(error instanceof CommandFailure ? error.exitCode : EXIT.failed)
  },
)

/** What people did wrong is said in a line; what went wrong here is said with all that is known of it. */
function lineOf(error: unknown): string {
  if (error instanceof CommandFailure || error instanceof LimiterError) return error.message.trimEnd()
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
