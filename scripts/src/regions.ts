import { pathToFileURL } from 'node:url'
import { bundledProgram } from './bundled.ts'

/**
 * Runs four regions over real servers, with faults. Usage: regions.js SECONDS SEED. The program runs in this process, so that it gets the
 * signals and stops its servers.
 */
await import(pathToFileURL(await bundledProgram('servers/main.ts', 'regions')).href)
