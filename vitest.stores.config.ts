import { defineConfig } from 'vitest/config'

/** The store suite by every client, around every wrapper over a wire, and on every kind of table and folder: what `npm test` takes a choice of. */
export default defineConfig({
  resolve: { conditions: ['sluice-source'] },
  ssr: { resolve: { conditions: ['sluice-source'] } },
  test: {
    globalSetup: ['packages/sluice/test/setup/engines.ts'],
    include: ['**/*.stores.test.ts'],
    exclude: ['**/node_modules/**'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 3,
  },
})
