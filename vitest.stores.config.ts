import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { NamesHangs } from './packages/sluice/test/setup/hangs.ts'

const TESTS = ['packages/sluice/test', 'packages/server/test', 'bench/test', 'scripts/test']

/** The files that draw a few cases in `npm test`: here they draw all. */
function drawing(): string[] {
  const files = TESTS.flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)))
  return files.filter(
    (file) => file.endsWith('.test.ts') && !file.endsWith('.fault.test.ts') && /\/draws\.ts'/.test(readFileSync(file, 'utf8')),
  )
}

/**
 * The store suite by every client, around every wrapper, and on every kind of table and folder, all draws of the random tests,
 * and what takes long (`*.long.test.ts`): what `npm test` takes a choice of.
 */
export default defineConfig({
  resolve: { conditions: ['sluice-source'] },
  ssr: { resolve: { conditions: ['sluice-source'] } },
  test: {
    globalSetup: ['packages/sluice/test/setup/engines.ts'],
    reporters: ['default', new NamesHangs()],
    include: ['**/*.{long,stores}.test.ts', ...drawing()],
    exclude: ['**/node_modules/**'],
    // As in vitest.config.ts: each of 150 files would load the same sources again.
    isolate: false,
    experimental: { fsModuleCache: true },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: 3,
  },
})
