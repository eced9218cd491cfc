import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createVitest, type TestModule, type Vitest } from 'vitest/node'
import type { EngineName } from './rooms.ts'

/** Paths of sources and the text that replaces them. */
export type Texts = Readonly<Record<string, string>>

/**
 * A request to this process, which runs test files on the sources of this repository, some of them replaced by `texts`. The process is
 * separate, because a mutant may never end. It answers each request with the tests that passed and failed, and reports the beginning of
 * each test. With `cases` (ids) or `named` only these tests are run.
 */
export type Request =
  | { readonly do: 'related'; readonly file: string }
  | { readonly do: 'run'; readonly test: string; readonly texts?: Texts; readonly cases?: readonly string[]; readonly named?: string }

/** The test files as globs, and the URLs of the servers that they may use. */
export interface WorkerOptions {
  readonly tests: readonly string[]
  readonly without: readonly string[]
  readonly urls: Readonly<Partial<Record<EngineName, string>>>
}

export type Answer = { readonly tests: readonly string[] } | Outcome

/** A message that a test begins. */
export interface Progress {
  readonly begins: string
}

/** One test of a file. */
export interface Case {
  readonly id: string
  readonly ms: number
}

export interface Outcome {
  /** How many tests passed, up to the first that failed. */
  readonly passed: number
  readonly failed: readonly string[]
  /** The tests that passed, in order. */
  readonly cases: readonly Case[]
  /** The id of the first test that failed. Undefined if none failed, or if the file itself failed. */
  readonly failedCase?: string | undefined
  /** The functions of `marked` sources that were entered. */
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
    reporters: [{ onTestCaseReady: ({ id }) => void process.send?.({ begins: id } satisfies Progress) }],
    provide: {
      engines: {
        redis: urls.redis,
        postgres: urls.postgres,
        chromium: undefined,
        promtool: undefined,
        proxies: { nginx: undefined, caddy: undefined, haproxy: undefined },
      },
      draws: 'few',
    },
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
    (error: unknown) => process.send?.({ passed: 0, failed: [String(error)], cases: [] } satisfies Answer),
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
  const { texts = {}, test, cases, named } = request
  for (const path of new Set([...Object.keys(texts), ...Object.keys(changed)])) runner.invalidateFile(path)
  changed = texts
  rmSync(ENTERED, { force: true })
  // Clears the failures of an earlier run. They would count towards `bail`, and be reported again.
  runner.state.filesMap.clear()
  runner.state.idMap.clear()
  runner.state.clearErrors()
  const specification = runner.getRootProject().createSpecification(test, {
    ...(cases === undefined ? {} : { testIds: [...cases] }),
    ...(named === undefined ? {} : { testNamePattern: patternOf(named) }),
  })
  const { testModules, unhandledErrors } = await runner.runTestSpecifications([specification], false)
  const passed = testModules.flatMap((module) => [...module.children.allTests('passed')])
  const entered = existsSync(ENTERED) ? readFileSync(ENTERED, 'utf8').trim().split('\n') : []
  return {
    passed: passed.length,
    failed: [...testModules.flatMap(failuresOf), ...unhandledErrors.map(String)],
    cases: passed.map((one) => ({ id: one.id, ms: one.diagnostic()?.duration ?? 0 })),
    failedCase: testModules.flatMap((module) => [...module.children.allTests('failed')])[0]?.id,
    entered: entered.flatMap((line) => JSON.parse(line) as string[]),
  }
}

/** The pattern that matches one test. Its name is reported with ` > ` between suites, but matched with blanks. */
function patternOf(fullName: string): RegExp {
  return new RegExp(`^${fullName.replaceAll(' > ', ' ').replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')}$`)
}

function failuresOf(module: TestModule): string[] {
  if (module.ok()) return []
  const failed = [...module.children.allTests('failed')].map((test) => test.fullName)
  return failed.length > 0 ? failed : [`${module.relativeModuleId} could not be run`]
}
