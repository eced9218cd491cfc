import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createVitest, type TestModule, type Vitest } from 'vitest/node'
import type { EngineName } from './rooms.ts'

/** Paths of sources and what stands in them instead. */
export type Texts = Readonly<Record<string, string>>

/**
 * Runs test files on the sources of this repository, some of them exchanged: a process of its own, because a mutant may never
 * end. It answers each request with what passed and failed.
 */
export type Request =
  | { readonly do: 'related'; readonly file: string }
  | { readonly do: 'run'; readonly test: string; readonly texts?: Texts }

/** Which tests there are, as globs, and where the servers are that they may use. */
export interface WorkerOptions {
  readonly tests: readonly string[]
  readonly without: readonly string[]
  readonly urls: Readonly<Partial<Record<EngineName, string>>>
}

export type Answer = { readonly tests: readonly string[] } | Outcome

export interface Outcome {
  /** How many tests passed, up to the first that failed. */
  readonly passed: number
  readonly failed: readonly string[]
  /** What was entered of marked sources. */
  readonly entered?: readonly string[]
}

const ROOT = process.argv[2] as string
const { tests, without, urls } = JSON.parse(process.argv[3] as string) as WorkerOptions

let changed: Texts = {}
const folder = mkdtempSync(join(tmpdir(), 'sluice-entered-'))
const ENTERED = join(folder, 'entered')
process.env['SLUICE_ENTERED'] = ENTERED
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

const vitest = await createVitest(
  'test',
  {
    root: ROOT,
    config: false,
    watch: false,
    pool: 'threads',
    maxWorkers: 1,
    bail: 1,
    cache: false,
    include: [...tests],
    setupFiles: [join(import.meta.dirname, 'reached.js')],
    exclude: [...without],
    reporters: [{}],
    provide: { engines: { redis: urls.redis, postgres: urls.postgres, chromium: undefined } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
  {
    clearScreen: false,
    logLevel: 'silent',
    resolve: { conditions: ['sluice-source'] },
    ssr: { resolve: { conditions: ['sluice-source'] } },
    plugins: [{ name: 'mutant', enforce: 'pre', load: (id) => changed[id] }],
  },
)

process.on('message', (request: Request) => {
  answer(vitest, request).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ passed: 0, failed: [String(error)] } satisfies Answer),
  )
})
process.on('disconnect', () => process.exit())
process.send?.({ tests: [] } satisfies Answer)

async function answer(runner: Vitest, request: Request): Promise<Answer> {
  if (request.do === 'related') {
    runner.config.related = [request.file]
    const related = await runner.getRelevantTestSpecifications()
    return { tests: related.map(({ moduleId }) => moduleId) }
  }
  const { texts = {}, test } = request
  for (const path of new Set([...Object.keys(texts), ...Object.keys(changed)])) runner.invalidateFile(path)
  changed = texts
  rmSync(ENTERED, { force: true })
  // Failures of an earlier run would count towards `bail`, and be told again.
  runner.state.filesMap.clear()
  runner.state.idMap.clear()
  runner.state.clearErrors()
  const specifications = runner.getModuleSpecifications(test)
  const project = runner.getRootProject()
  const specs = specifications.length > 0 ? specifications : [project.createSpecification(test)]
  const { testModules, unhandledErrors } = await runner.runTestSpecifications(specs, false)
  const passed = testModules.reduce((sum, module) => sum + [...module.children.allTests('passed')].length, 0)
  const entered = existsSync(ENTERED) ? readFileSync(ENTERED, 'utf8').trim().split('\n') : []
  return {
    passed,
    failed: [...testModules.flatMap(failuresOf), ...unhandledErrors.map(String)],
    entered: entered.flatMap((line) => JSON.parse(line) as string[]),
  }
}

function failuresOf(module: TestModule): string[] {
  if (module.ok()) return []
  const failed = [...module.children.allTests('failed')].map((test) => test.fullName)
  return failed.length > 0 ? failed : [`${module.relativeModuleId} could not be run`]
}
