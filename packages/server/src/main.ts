#!/usr/bin/env node
import { command } from './cli/command.ts'
import { EXIT } from './cli/failure.ts'
import { hidePasswords } from './cli/secrets.ts'
import { processIo } from './cli/io.ts'

// A reader that closes the pipe early, such as `head`, is not an error.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? EXIT.ok : EXIT.failed))
// A service goes on without the reader of its lines.
process.stderr.on('error', () => {})

hidePasswords()
process.exit(await command(process.argv.slice(2), processIo))
