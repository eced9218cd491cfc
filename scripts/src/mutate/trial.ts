import { relative } from 'node:path'
import { importedFor, textsFor } from './embedded.ts'
import { applied, type Mutant } from './mutants.ts'
import { enclosing } from './reach.ts'
import type { Status } from './report.ts'
import type { LimitOf, Tester } from './tester.ts'
import type { Outcome, Texts } from './worker.ts'

/** Tries mutants of one source. Tests that are likely to notice them run first. */
export interface Trial {
  try(mutant: Mutant, tester: Tester): Promise<Result>
}

export interface Result {
  readonly status: Status
  /** The test file that noticed the mutant. */
  readonly by?: string
  /** The test in that file, if it notices the mutant alone. */
  readonly name?: string
}

/** A test is taken to hang if it is silent for SLOWER times its usual time and PATIENCE_MS more, which a busy machine may need. */
const SLOWER = 3
const PATIENCE_MS = 5_000
const UNCHANGED_MS = 120_000
/**
 * Single tests (probes) run before whole files: at most PROBES. A probe must take less than PROBE_SHARE of the time of its file, and notice
 * mutants with a probability above PROBE_CHANCE.
 */
const PROBES = 3
const PROBE_SHARE = 0.4
const PROBE_CHANCE = 0.05

/** A test that takes more than SLOW_SHARE of its file's time, and more than SLOW_MS milliseconds, runs by itself. */
const SLOW_SHARE = 0.25
const SLOW_MS = 500
/**
 * Results of earlier mutants say how likely a test notices the next one. Results for mutants of the same source are counted this many times
 * more.
 */
const OWN = 3
/** A test file, or a part of one, with the measurements of a run without any change. */
export interface Test {
  readonly path: string
  readonly ms: number
  readonly passed: number
  /** The functions that it enters, as `marked` names them. */
  readonly entered: ReadonlySet<string>
  /** The tests of the file by id, in order. */
  readonly cases: ReadonlyMap<string, TestCase>
  /** The ids of its tests, if it is a part of a file. */
  readonly part?: readonly string[]
  /** The results for all mutants of the room. */
  readonly fared: Fared
}

/** How often a test was run against mutants, and how often it noticed them. */
interface Fared {
  run: number
  noticed: number
}

/** One test, and its results for mutants. */
export interface TestCase {
  readonly id: string
  /** The time that it takes alone, with the preparation before the first test of its file. */
  readonly ms: number
  readonly fared: Fared
  /** Whether it passes without the tests before it; undefined if that was not tried. */
  alone?: boolean
}

/**
 * The tests that reach a source. Each is run once on `marked` sources, to measure it and to record the functions that it enters.
 * @param marks the `marked` texts of all sources that are to be changed
 * @param seen the measured tests by path, of this and earlier calls
 * @param without leaves out test files whose path has one of these texts
 * @throws Error if no test reaches the source, or if all that do fail without a change
 */
export async function prepare(
  root: string,
  file: string,
  tester: Tester,
  marks: Texts,
  seen: Map<string, readonly Test[]>,
  without: readonly string[] = [],
): Promise<Test[]> {
  const related = await tester.related(importedFor(file))
  const paths = related.filter((path) => !without.some((text) => relative(root, path).includes(text)))
  if (paths.length === 0) throw new Error(`no test reaches ${relative(root, file)}`)
  for (const path of paths.filter((known) => !seen.has(known))) {
    const first = await asItIs(path, tester, marks)
    // A test may fail once on a busy machine, so it runs a second time.
    const whole = typeof first === 'string' ? await asItIs(path, tester, marks) : first
    if (typeof whole === 'string') {
      // A failing test is left out. That cannot improve the result, because fewer tests notice fewer mutants.
      console.log(`${relative(root, path)} is left out, it fails without any change: ${whole}`)
      seen.set(path, [])
    } else {
      seen.set(path, await partsOf(whole, tester, marks))
    }
  }
  const tests = paths.flatMap((path) => seen.get(path) ?? [])
  if (tests.length === 0) throw new Error(`every test that reaches ${relative(root, file)} fails without any change`)
  return tests
}

/** Runs a test without a mutant and measures it. @returns the failure as a text if it fails */
async function asItIs(path: string, tester: Tester, marks: Texts, ids?: readonly string[]): Promise<Test | string> {
  const started = performance.now()
  const some = ids === undefined ? {} : { cases: ids }
  const outcome = await tester.run({ do: 'run', test: path, texts: marks, ...some }, () => UNCHANGED_MS)
  if (outcome === 'timeout') return outcome
  if (outcome.failed.length > 0) return outcome.failed.join('; ')
  const { passed, cases, entered } = outcome
  const ms = performance.now() - started
  const before = ms - cases.reduce((sum, one) => sum + one.ms, 0)
  const byId = new Map(cases.map((one) => [one.id, { id: one.id, ms: before + one.ms, fared: { run: 0, noticed: 0 } }]))
  return {
    path,
    ms,
    passed,
    entered: new Set(entered),
    cases: byId,
    fared: { run: 0, noticed: 0 },
    ...(ids === undefined ? {} : { part: ids }),
  }
}

/** Splits a test file: each slow test by itself, and the quick ones together. If they do not pass that way, the whole file is used. */
async function partsOf(whole: Test, tester: Tester, marks: Texts): Promise<readonly Test[]> {
  const all = [...whole.cases.values()]
  const before = Math.min(...all.map(({ ms }) => ms))
  const slow = all.filter(({ ms }) => ms - before > Math.max(SLOW_MS, SLOW_SHARE * (whole.ms - before)))
  const quick = all.filter((one) => !slow.includes(one))
  if (slow.length === 0 || all.length === 1) return [whole]
  const parts: Test[] = []
  for (const one of [...(quick.length > 0 ? [quick] : []), ...slow.map((each) => [each])]) {
    const ids = one.map(({ id }) => id)
    const part = await asItIs(whole.path, tester, marks, ids)
    if (typeof part === 'string' || part.passed !== ids.length) return [whole]
    parts.push(part)
  }
  return parts
}

/** How long a test may report nothing. It also allows for the next test, because that test may block the message of its own beginning. */
function limitsOf(test: Test): LimitOf {
  const cases = [...test.cases.values()]
  const places = new Map(cases.map(({ id }, index) => [id, index]))
  return (begun) => {
    const at = begun === undefined ? -1 : (places.get(begun) ?? -1)
    const longest = Math.max(test.ms / 10, ...cases.slice(Math.max(0, at), at + 2).map(({ ms }) => ms))
    return PATIENCE_MS + SLOWER * longest
  }
}

/**
 * Runs a test that may never end. After a timeout the test is run without the change, too. If that run also takes long, the machine has
 * become slower, and the test is run again with a longer limit.
 */
async function patiently(test: Test, tester: Tester, texts: Texts, cases = test.part): Promise<Outcome | 'timeout'> {
  const limits = limitsOf(test)
  const request = { do: 'run', test: test.path, ...(cases === undefined ? {} : { cases }) } as const
  for (let factor = 1; ; factor *= 3) {
    const outcome = await tester.run({ ...request, texts }, (begun) => factor * limits(begun))
    if (outcome !== 'timeout' || factor > 9) return outcome
    const unchanged = await tester.run(request, (begun) => (factor / 2) * limits(begun))
    if (unchanged !== 'timeout' && unchanged.failed.length === 0) return outcome
  }
}

/** Runs a single test. @returns undefined if the test needs the tests before it */
async function probe(test: Test, one: TestCase, tester: Tester, texts: Texts): Promise<Outcome | 'timeout' | undefined> {
  if (one.alone === undefined) {
    const outcome = await tester.run({ do: 'run', test: test.path, cases: [one.id] }, () => UNCHANGED_MS)
    one.alone = outcome !== 'timeout' && outcome.failed.length === 0 && outcome.passed === 1
  }
  return one.alone ? patiently(test, tester, texts, [one.id]) : undefined
}

/**
 * Repeats a failed test. A failure because of the mutant occurs again, alone or after the tests before it; a failure because of a busy
 * machine does not.
 */
async function confirmed(test: Test, first: Outcome | 'timeout', tester: Tester, texts: Texts): Promise<Outcome | 'timeout'> {
  if (first === 'timeout' || first.failed.length === 0) return first
  const one = test.cases.get(first.failedCase ?? '')
  const alone = one === undefined || test.cases.size === 1 ? undefined : await probe(test, one, tester, texts)
  const second = alone === undefined || (alone !== 'timeout' && alone.failed.length === 0) ? await patiently(test, tester, texts) : alone
  return second === 'timeout' || second.failed.length === 0 ? second : first
}

function resultOf({ path, cases }: Test, outcome: Outcome | 'timeout'): Result {
  if (outcome === 'timeout') return { status: 'timeout', by: path }
  const [name] = outcome.failed
  const one = cases.get(outcome.failedCase ?? '')
  const alone = one !== undefined && (one.alone === true || cases.size === 1)
  return { status: 'killed', by: path, ...(alone && name !== undefined ? { name } : {}) }
}

/**
 * Tries mutants of one source. First come single tests that noticed mutants of this room (sources with the same tests) before, then whole
 * files. Both are sorted by the probability that they notice a mutant, divided by their time.
 */
export function createTrial(file: string, source: string, tests: readonly Test[]): Trial {
  const here = new Map(tests.map((test) => [test, { run: 0, noticed: 0 }]))
  // Counts each test as if it had two more runs and noticed one more mutant. So a test that was never tried has its turn early.
  const chance = ({ run, noticed }: Fared): number => (noticed + 1) / (run + 2)
  const worth = (test: Test): number => {
    const own = here.get(test) as Fared
    return chance({ run: test.fared.run + OWN * own.run, noticed: test.fared.noticed + OWN * own.noticed }) / test.ms
  }
  // The functions of a Lua or SQL program run on a server, where entering them is not recorded.
  const functionAt = /\.tsx?$/.test(file) ? enclosing(file, source) : () => undefined

  const probesOf = (reaching: readonly Test[]): { readonly test: Test; readonly one: TestCase }[] =>
    reaching
      .flatMap((test) => [...test.cases.values()].map((one) => ({ test, one })))
      .filter(
        ({ test, one }) =>
          one.fared.noticed > 0 && one.alone !== false && one.ms < PROBE_SHARE * test.ms && chance(one.fared) > PROBE_CHANCE,
      )
      .sort((a, b) => chance(b.one.fared) / b.one.ms - chance(a.one.fared) / a.one.ms)
      .slice(0, PROBES)
  return {
    async try(mutant, tester) {
      const text = applied(source, mutant)
      if (!(await tester.takes(file, text))) return { status: 'invalid' }
      const texts = textsFor(file, text)
      const within = functionAt(mutant.start)
      const reaching = within === undefined ? [...tests] : tests.filter(({ entered }) => entered.has(within))
      for (const { test, one } of probesOf(reaching)) {
        const first = await probe(test, one, tester, texts)
        if (first === undefined) continue
        one.fared.run += 1
        const outcome = await confirmed(test, first, tester, texts)
        if (outcome !== 'timeout' && outcome.failed.length === 0) continue
        one.fared.noticed += 1
        return resultOf(test, outcome)
      }
      for (const test of reaching.sort((a, b) => worth(b) - worth(a))) {
        const outcome = await confirmed(test, await patiently(test, tester, texts), tester, texts)
        const all = [test.fared, here.get(test) as Fared]
        for (const fared of all) fared.run += 1
        if (outcome === 'timeout' || outcome.failed.length > 0) {
          for (const fared of all) fared.noticed += 1
          const one = outcome === 'timeout' ? undefined : test.cases.get(outcome.failedCase ?? '')
          if (one !== undefined) one.fared.noticed += 1
          return resultOf(test, outcome)
        }
        if (outcome.passed === 0 && test.passed > 0) throw new Error(`nothing was run of ${test.path}`)
      }
      return { status: 'survived' }
    },
  }
}
