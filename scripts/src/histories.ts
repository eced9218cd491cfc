import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { build } from 'esbuild'

/** Bundles the random histories of regions, and runs them in plain Node: in half the time of a test. Usage: histories.js COUNT SEED */
const root = join(import.meta.dirname, '..', '..')
const outfile = join(root, 'node_modules', '.cache', 'histories.mjs')
const entry = join(root, 'packages', 'sluice', 'test', 'regions', 'histories.ts')
await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', conditions: ['sluice-source'] })
process.exit(spawnSync(process.execPath, [outfile, ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 1)
