import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEngines } from './fences/engines.ts'
import { installApplication, LEAST_TYPESCRIPT, typeSteps } from './package-test/application.ts'
import { bundlerSteps } from './package-test/bundlers.ts'
import { createPlace } from './package-test/place.ts'
import { programsOf } from './package-test/programs.ts'
import { startRegistry } from './package-test/registry.ts'
import { runtimeSteps } from './package-test/runtimes.ts'
import { serviceSteps } from './package-test/service.ts'
import { type Context, Skip, type Step } from './package-test/step.ts'
import { readOwner } from './release/owner.ts'
import { pack } from './release/pack.ts'

/**
 * `npm run test:package`: packs both packages and uses them outside the repository, as a stranger does. A step whose runtime or server is
 * missing is skipped and named; `SLUICE_REQUIRE=redis,node22,node24,deno,bun` turns that into a failure. Usage: test-package.js [WORDS ...]
 * runs only the steps whose names contain one of the words, and those that install what they need.
 */
const ROOT = join(import.meta.dirname, '..', '..')

const stated: Step = {
  name: 'docs/versions.md states the least TypeScript',
  async run() {
    const text = readFileSync(join(ROOT, 'docs', 'versions.md'), 'utf8')
    if (!text.includes(`| TypeScript | ${LEAST_TYPESCRIPT} or later`)) throw new Error(`it is ${LEAST_TYPESCRIPT}`)
  },
}
const STEPS: readonly Step[] = [stated, ...serviceSteps, installApplication, ...typeSteps, ...bundlerSteps, ...runtimeSteps]

/** Steps that install what others need. */
const FIRST: ReadonlySet<Step> = new Set([serviceSteps[0] as Step, installApplication])

async function main(words: readonly string[]): Promise<void> {
  const started = performance.now()
  const required = (process.env['SLUICE_REQUIRE'] ?? '').split(',')
  const programs = programsOf(ROOT, 'README.md')
  const engines = await startEngines(new Set(programs.flatMap(({ needs }) => needs)))
  const tarballs = mkdtempSync(join(tmpdir(), 'sluice-tarballs-'))
  const packages = pack(ROOT, tarballs, readOwner(ROOT))
  const [library, server] = packages as [Context['library'], Context['server']]
  const registry = await startRegistry(packages)
  const place = createPlace(registry.url)
  const context: Context = { root: ROOT, place, library, server, programs, urls: engines.urls }
  const counts = { passed: 0, failed: [] as string[], skipped: [] as string[] }
  try {
    for (const step of STEPS) {
      if (words.length > 0 && !FIRST.has(step) && !words.some((word) => step.name.includes(word))) continue
      await tried(step, context, required, counts)
    }
  } finally {
    await place.remove()
    await registry.close()
    await engines.stop()
    rmSync(tarballs, { recursive: true, force: true })
  }
  const { passed, failed, skipped } = counts
  const named = (what: string, names: readonly string[]): string => (names.length === 0 ? '' : `\n${what}: ${names.join(', ')}`)
  const seconds = Math.round((performance.now() - started) / 1_000)
  console.log(`${named('skipped', skipped)}${named('failed', failed)}`.trim())
  console.log(`packages: ${passed} passed, ${failed.length} failed, ${skipped.length} skipped, ${seconds} s`)
  process.exitCode = failed.length === 0 ? 0 : 1
}

async function tried(
  { name, run }: Step,
  context: Context,
  required: readonly string[],
  counts: { passed: number; failed: string[]; skipped: string[] },
): Promise<void> {
  const started = performance.now()
  const line = (state: string): string => `${state} ${((performance.now() - started) / 1_000).toFixed(1).padStart(6)} s  ${name}`
  try {
    await run(context)
    counts.passed += 1
    console.log(line('ok  '))
  } catch (error) {
    const isSkip = error instanceof Skip && !required.includes(error.missing)
    counts[isSkip ? 'skipped' : 'failed'].push(isSkip ? `${name} (${(error as Error).message})` : name)
    console.log(`${line(isSkip ? 'skip' : 'FAIL')}\n${(error as Error).message}`)
  }
}

await main(process.argv.slice(2))
