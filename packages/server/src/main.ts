#!/usr/bin/env node
import { command } from './cli/command.ts'
import { EXIT } from './cli/failure.ts'
import { hidePasswords } from './cli/secrets.ts'
import { processIo } from './cli/io.ts'

const ended: { code?: number } = {}
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // A reader that closes the pipe early, such as `head`, is not an error.
  if (code === 'EPIPE') process.exit(ended.code ?? EXIT.ok)
  process.stderr.write(`sluice: the output cannot be written: ${message}\n`)
  process.exit(EXIT.failed)
})
// A service goes on without the reader of its lines.
process.stderr.on('error', () => {})

hidePasswords()
ended.code = await command(process.argv.slice(2), processIo)
// A write that failed reports it after this turn of the event loop.
setImmediate(() => process.exit(ended.code))
