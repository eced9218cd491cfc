#!/usr/bin/env node
import { command } from './command.ts'
import { EXIT } from './failure.ts'
import { processIo } from './io.ts'

// Whoever reads only the first lines has read what they wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed))

process.exit(await command(process.argv.slice(2), processIo))
