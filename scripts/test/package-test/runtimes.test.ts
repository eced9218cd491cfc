import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { RUNTIMES } from '../../src/package-test/runtimes.ts'

it('.ci/run requires every runtime of npm run test:package, so that none is skipped in silence', () => {
  const required = /^export SLUICE_REQUIRE=(.+)$/m
    .exec(readFileSync(join(import.meta.dirname, '../../../.ci/run'), 'utf8'))?.[1]
    ?.split(',')
  expect(RUNTIMES.length).toBeGreaterThan(4)
  expect(RUNTIMES.map(({ name }) => name).filter((name) => required?.includes(name) !== true)).toEqual([])
})
