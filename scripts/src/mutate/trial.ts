import { relative } from 'node:path'
import { importedFor, textsFor } from './embedded.ts'
import { applied, type Mutant } from './mutants.ts'
import { enclosing } from './reach.ts'
import type { Status } from './report.ts'
import type { Tester } from './tester.ts'
import type { Outcome, Texts } from './worker.ts'

/** Tests of one source, in the order in which they are likely to notice something. */
export interface Trial {
  try(mutant: Mutant, tester: Tester): Promise<Result>
}

export interface Result {
  readonly status: Status
  /** The test file that noticed it. */
  readonly by?: string
}

/** A mutant that is slow is no mutant that hangs: what a test took, several times, and some seconds for a busy machine. */
const SLOWER = 5
const PATIENCE_MS = 5_000
const UNCHANGED_MS = 120_000

/** A test file as it runs without any change. */
export interface Test {
  readonly path: string
  readonly ms: number
  readonly passed: number
  /** The functions that it enters, as `marked` names them. */
  readonly entered: ReadonlySet<string>
}

/**
 * The tests that reach a source, each run once on sources that say what is entered.
 * @param marks all sources that are to be changed, marked
 * @param seen what other sources brought to light
 * @param without leaves out test files whose path has one of these texts
 * @throws Error where one of them fails already, or none reaches it
 */
export async function prepare(
  root: string,
  file: string,
  tester: Tester,
  marks: Texts,
  seen: Map<string, Test>,
  without: readonly string[] = [],
): Promise<Test[]> {
  const related = await tester.related(importedFor(file))
  const paths = related.filter((path) => !without.some((text) => relative(root, path).includes(text)))
  if (paths.length === 0) throw new Error(`no test reaches ${relative(root, file)}`)
  for (const path of paths.filter((known) => !seen.has(known))) {
    const started = performance.now()
    const run = () => tester.run({ do: 'run', test: path, texts: marks }, UNCHANGED_MS)
    const first = await run()
    // A machine that is busy elsewhere fails a test once.
    const outcome = first === 'timeout' || first.failed.length > 0 ? await run() : first
    if (outcome === 'timeout' || outcome.failed.length > 0) {
      throw new Error(`${relative(root, path)} fails without any change: ${outcome === 'timeout' ? outcome : outcome.failed.join('; ')}`)
    }
    seen.set(path, { path, ms: performance.now() - started, passed: outcome.passed, entered: new Set(outcome.entered) })
  }
  return paths.map((path) => seen.get(path) as Test)
}

/**
 * Runs a test that may never end. A machine that has become slower since is no sign of that: the test is run without any change as well, and
 * again with more patience where that took long too.
 */
async function patiently(test: Test, tester: Tester, texts: Texts): Promise<Outcome | 'timeout'> {
  for (let limit = PATIENCE_MS + SLOWER * test.ms; ; limit *= 3) {
    const outcome = await tester.run({ do: 'run', test: test.path, texts }, limit)
    if (outcome !== 'timeout' || limit > UNCHANGED_MS) return outcome
    const started = performance.now()
    const unchanged = await tester.run({ do: 'run', test: test.path }, limit)
    if (unchanged !== 'timeout' && unchanged.failed.length === 0 && performance.now() - started < limit / 3) return outcome
  }
}

/** Tries mutants of one source; those tests come first that are likely to notice something soon: chance by time. */
export function createTrial(file: string, source: string, tests: readonly Test[]): Trial {
  const counts = new Map(tests.map((test) => [test, { run: 0, noticed: 0 }]))
  const worth = (test: Test): number => {
    const { run, noticed } = counts.get(test) as { run: number; noticed: number }
    // As if each had been run twice and noticed something once: one that was never tried has its turn early.
    return (noticed + 1) / (run + 2) / test.ms
  }
  // What of a program is entered on a server, nobody sees.
  const functionAt = /\.tsx?$/.test(file) ? enclosing(file, source) : () => undefined
  return {
    async try(mutant, tester) {
      const text = applied(source, mutant)
      if (!(await tester.takes(file, text))) return { status: 'invalid' }
      const texts = textsFor(file, text)
      const within = functionAt(mutant.start)
      const reaching = within === undefined ? [...tests] : tests.filter(({ entered }) => entered.has(within))
      for (const test of reaching.sort((a, b) => worth(b) - worth(a))) {
        const first = await patiently(test, tester, texts)
        // What fails on a busy machine passes the next time; what fails because of the mutant does not.
        const outcome = first === 'timeout' || first.failed.length === 0 ? first : await patiently(test, tester, texts)
        const count = counts.get(test) as { run: number; noticed: number }
        count.run += 1
        if (outcome === 'timeout' || outcome.failed.length > 0) {
          count.noticed += 1
          return { status: outcome === 'timeout' ? 'timeout' : 'killed', by: test.path }
        }
        if (outcome.passed === 0 && test.passed > 0) throw new Error(`nothing was run of ${test.path}`)
      }
      return { status: 'survived' }
    },
  }
}
