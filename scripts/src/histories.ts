import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { bundledProgram } from './bundled.ts'

/**
 * Bundles the random histories of regions, and runs them in plain Node, which takes half the time of a test. Usage: histories.js [--mode
 * counters] COUNT SEED; without --mode it runs histories of escrow.
 */
const { values, positionals } = parseArgs({ options: { mode: { type: 'string', default: 'escrow' } }, allowPositionals: true })
const FILES: Readonly<Record<string, string>> = { escrow: 'histories.ts', counters: 'counters-histories.ts' }
const file = FILES[values.mode]
if (file === undefined) throw new Error(`--mode is ${values.mode}, expected escrow or counters`)
const program = await bundledProgram(file, 'histories')
process.exit(spawnSync(process.execPath, [program, ...positionals], { stdio: 'inherit' }).status ?? 1)
