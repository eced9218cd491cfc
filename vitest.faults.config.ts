import { defineConfig } from 'vitest/config'
import { LATE } from './packages/sluice/test/faults/in-time.ts'
import { NamesHangs } from './packages/sluice/test/setup/hangs.ts'

/** Faults under load, one file at a time: each measures how late answers are, and must not disturb another. */
export default defineConfig({
  resolve: { conditions: ['sluice-source'] },
  ssr: { resolve: { conditions: ['sluice-source'] } },
  test: {
    globalSetup: ['packages/sluice/test/setup/engines.ts'],
    reporters: ['default', new NamesHangs()],
    include: ['**/*.fault.test.ts'],
    exclude: ['**/node_modules/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    fileParallelism: false,
    // Other programs of the machine disturb measurements of lateness, so one that fails is repeated once. Nothing else is.
    retry: { count: 1, condition: LATE },
  },
})
