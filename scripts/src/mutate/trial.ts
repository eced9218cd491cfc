import { relative } from 'node:path'
import { importedFor, textsFor } from './embedded.ts'
import { applied, type Mutant } from './mutants.ts'
import { enclosing } from './reach.ts'
import type { Status } from './report.ts'
import type { LimitOf, Tester } from './tester.ts'
import type { Outcome, Texts } from './worker.ts'

/** Tests of one source, in the order in which they are likely to notice something. */
export interface Trial {
  try(mutant: Mutant, tester: Tester): Promise<Result>
}

export interface Result {
  readonly status: Status
  /** The test file that noticed it. */
  readonly by?: string
  /** And which of its tests, where that does it alone. */
  readonly name?: string
}

/** A test that is silent for a few times as long as it took, and some seconds for a busy machine, hangs. */
const SLOWER = 3
const PATIENCE_MS = 5_000
const UNCHANGED_MS = 120_000
/** Single tests that are tried before whole files; each must take less than this share of the time of its file, and be likely to notice. */
const PROBES = 3
const PROBE_SHARE = 0.4
const PROBE_CHANCE = 0.05

/** A test that takes so much of the time of its file, and so long, is run by itself. */
const SLOW_SHARE = 0.25
const SLOW_MS = 500
/** What was seen of mutants of the same source counts so many times more. */
const OWN = 3
/** A test file, or a part of it, as it runs without any change. */
export interface Test {
  readonly path: string
  readonly ms: number
  readonly passed: number
  /** The functions that it enters, as `marked` names them. */
  readonly entered: ReadonlySet<string>
  /** Its tests by id, in their order. */
  readonly cases: ReadonlyMap<string, TestCase>
  /** Where it is a part. */
  readonly part?: readonly string[]
  /** Against all mutants of its room. */
  readonly fared: Fared
}

/** How often a test was run against mutants, and noticed them. */
interface Fared {
  run: number
  noticed: number
}

/** One test, and how it fared against mutants. */
export interface TestCase {
  readonly id: string
  /** Alone, with what is done before the first test of its file. */
  readonly ms: number
  readonly fared: Fared
  /** Whether it passes without the tests before it; undefined where nobody tried. */
  alone?: boolean
}

/**
 * The tests that reach a source, each run once on sources that say what is entered.
 * @param marks all sources that are to be changed, marked
 * @param seen what other sources brought to light
 * @param without leaves out test files whose path has one of these texts
 * @throws Error where none reaches it, or each of them fails already
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
    // A machine that is busy elsewhere fails a test once.
    const whole = typeof first === 'string' ? await asItIs(path, tester, marks) : first
    if (typeof whole === 'string') {
      // Fewer tests notice fewer mutants: nothing is made to look better by it.
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

/** @returns what failed, where something did */
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

/** The slow tests of a file each by itself and the quick ones together, where they pass like that; otherwise the whole file. */
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

/** How long a test may report nothing. The message that the next one began may be late, because a test that computes blocks it. */
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
 * Runs a test that may never end. A machine that has become slower since is no sign of that: the test is run without any change as well, and
 * again with more patience where that took long too.
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

function resultOf({ path, cases }: Test, outcome: Outcome | 'timeout'): Result {
  if (outcome === 'timeout') return { status: 'timeout', by: path }
  const [name] = outcome.failed
  const one = cases.get(outcome.failedCase ?? '')
  const alone = one !== undefined && (one.alone === true || cases.size === 1)
  return { status: 'killed', by: path, ...(alone && name !== undefined ? { name } : {}) }
}

/**
 * Tries mutants of one source; those tests come first that are likely to notice something soon, chance by time: single tests that noticed
 * mutants of this room before, then whole files.
 */
export function createTrial(file: string, source: string, tests: readonly Test[]): Trial {
  const here = new Map(tests.map((test) => [test, { run: 0, noticed: 0 }]))
  // As if each had been run twice and noticed something once: one that was never tried has its turn early.
  const chance = ({ run, noticed }: Fared): number => (noticed + 1) / (run + 2)
  const worth = (test: Test): number => {
    const own = here.get(test) as Fared
    return chance({ run: test.fared.run + OWN * own.run, noticed: test.fared.noticed + OWN * own.noticed }) / test.ms
  }
  // What of a program is entered on a server, nobody sees.
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
  /** @returns undefined where the test needs those before it */
  const probe = async (test: Test, one: TestCase, tester: Tester, texts: Texts): Promise<Outcome | 'timeout' | undefined> => {
    if (one.alone === undefined) {
      const outcome = await tester.run({ do: 'run', test: test.path, cases: [one.id] }, () => UNCHANGED_MS)
      one.alone = outcome !== 'timeout' && outcome.failed.length === 0 && outcome.passed === 1
    }
    return one.alone ? patiently(test, tester, texts, [one.id]) : undefined
  }
  /** What fails on a busy machine passes the next time; what fails because of the mutant does not, alone or after the tests before it. */
  const confirmed = async (test: Test, first: Outcome | 'timeout', tester: Tester, texts: Texts): Promise<Outcome | 'timeout'> => {
    if (first === 'timeout' || first.failed.length === 0) return first
    const one = test.cases.get(first.failedCase ?? '')
    const alone = one === undefined || test.cases.size === 1 ? undefined : await probe(test, one, tester, texts)
    const second = alone === undefined || (alone !== 'timeout' && alone.failed.length === 0) ? await patiently(test, tester, texts) : alone
    return second === 'timeout' || second.failed.length === 0 ? second : first
  }
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
