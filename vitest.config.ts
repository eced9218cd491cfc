import { defineConfig } from 'vitest/config'
import { LATE } from './packages/sluice/test/faults/in-time.ts'
import { NamesHangs } from './packages/sluice/test/setup/hangs.ts'

/** Tests run on the TypeScript sources: the condition below picks them in every package's exports. */
export default defineConfig({
  resolve: { conditions: ['sluice-source'] },
  ssr: { resolve: { conditions: ['sluice-source'] } },
  test: {
    globalSetup: ['packages/sluice/test/setup/engines.ts'],
    reporters: ['default', new NamesHangs()],
    include: ['{packages/sluice,packages/server,bench,scripts,examples}/test/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/*.{fault,long,stores}.test.ts'],
    // Half of a run was loading the same sources again for each file.
    isolate: false,
    // A worker runs most code a few times only, so optimizing it costs more processor time than it saves. Likewise small collections.
    execArgv: ['--interrupt-budget=1000000', '--max-semi-space-size=64'],
    // Sources that have not changed since the last run are not transformed again.
    experimental: { fsModuleCache: true },
    // All of them are drawn by vitest.stores.config.ts.
    provide: { draws: 'few' },
    // Only what hangs should end by them: beside other work of the machine, starting a process alone may take ten seconds.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What becomes true within a second becomes true later where the machine does other work.
    expect: { poll: { timeout: 20_000 } },
    // Many tests wait for real time or for another process: a third keeps two cores busy.
    maxWorkers: 3,
    // As in vitest.faults.config.ts: one file of its tests runs here as well.
    retry: { count: 1, condition: LATE },
  },
})
