import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { textsFor } from './mutate/embedded.ts'
import { applied, keyOf, type Mutant, mutantsOf } from './mutate/mutants.ts'
import { type Explanation, reasonsOf } from './mutate/report.ts'
import { ELSEWHERE, type Room, roomOf, ROOMS } from './mutate/rooms.ts'
import { judge, readSample, type Sampled, sampledKey, type SampleResult } from './mutate/sample.ts'
import { createTester } from './mutate/tester.ts'

/**
 * Runs the fixed sample of mutants (packages/sluice/test/mutants-sample.json), each against the test that noticed it before. Prints the
 * result of each room (sources with the same tests). Exits with 1 if a mutant that was noticed before now survives, or if a room is below
 * its goal. Usage: mutate-sample.js [SECONDS]; mutants that are not tried within this time are left out.
 */
const root = join(import.meta.dirname, '..', '..')
const seconds = Number(process.argv[2] ?? 240)
/** How many copies of the repository run tests at once. Two pay off, because a test waits for its server about as long as it computes. */
const CONCURRENT = 2
/** A test that reports nothing for this many milliseconds is taken to hang. */
const LIMIT_MS = 60_000

const deadline = performance.now() + seconds * 1_000
const sample = readSample(join(root, 'packages/sluice/test/mutants-sample.json'))
const explanations = JSON.parse(readFileSync(join(root, 'packages/sluice/test/mutants.json'), 'utf8')) as Explanation[]
const reasons = reasonsOf(explanations)
const mutants = new Map(
  [...new Set(sample.map(({ file }) => file))]
    .filter((file) => existsSync(join(root, file)))
    .flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')).map((mutant) => [keyOf(mutant), mutant] as const)),
)
const queue = [...ROOMS, ELSEWHERE].filter((room) => sample.some(({ file }) => roomOf(file) === room))
const results: SampleResult[] = []
await Promise.all(
  Array.from({ length: CONCURRENT }, async () => {
    for (let room = queue.shift(); room !== undefined; room = queue.shift()) results.push(await runSample(room))
  }),
)
const { ok, text } = judge(results.sort((a, b) => ROOMS.indexOf(a.room) - ROOMS.indexOf(b.room)))
console.log(text)
process.exit(ok ? 0 : 1)

/** Tries the mutants of a room (sources with the same tests) in the order of the sample. Ends when the room's share of the time is over. */
async function runSample(room: Room): Promise<SampleResult> {
  const here = sample.filter(({ file }) => roomOf(file) === room)
  const there = here.filter((one) => mutants.has(sampledKey(one)))
  const tests = [...new Set(there.flatMap(({ test }) => test ?? []))]
  const end = performance.now() + ((deadline - performance.now()) * CONCURRENT) / Math.max(CONCURRENT, queue.length + 1)
  const tester = createTester(root, room)
  const counts = { noticed: 0, survived: 0, explained: 0 }
  const lost: Sampled[] = []
  const broken: string[] = []
  try {
    // A test that fails without a change would seem to notice every mutant. If an engine is broken, all tests fail.
    for (const test of tests) {
      const { name } = there.find((one) => one.test === test) as Sampled
      // The second run is of the whole file, because a test that was only renamed does not fail.
      if (existsSync(join(root, test)) && !(await passes(test, name)) && !(await passes(test))) broken.push(test)
    }
    for (const one of broken.length > 0 ? [] : there) {
      if (one.test === undefined) {
        counts[reasons.of(mutants.get(sampledKey(one)) as Mutant) === undefined ? 'survived' : 'explained'] += 1
        continue
      }
      // A test that depends on time may miss a mutant once, so it runs twice. Then the other tests run, which may notice the mutant too.
      const answer = await isNoticed(one, [one.test, one.test, ...tests.filter((test) => test !== one.test)])
      if (answer === undefined) break
      if (answer) counts.noticed += 1
      else lost.push(one)
    }
  } finally {
    await tester.stop()
  }
  const tried = counts.noticed + counts.survived + counts.explained + lost.length
  return { room, ...counts, lost, gone: here.length - there.length, left: there.length - tried, broken }

  async function passes(test: string, named?: string): Promise<boolean> {
    const only = named === undefined ? {} : { named }
    const outcome = await tester.run({ do: 'run', test: join(root, test), ...only }, () => LIMIT_MS)
    return outcome !== 'timeout' && outcome.failed.length === 0 && outcome.passed > 0
  }

  /** Whether a test notices the mutant; undefined if the time is over before. */
  async function isNoticed(one: Sampled, order: readonly string[]): Promise<boolean | undefined> {
    const mutant = mutants.get(sampledKey(one)) as Mutant
    const path = join(root, mutant.file)
    const texts = textsFor(path, applied(readFileSync(path, 'utf8'), mutant))
    const { name } = one
    const first = name === undefined ? [] : [{ test: order[0] as string, named: name }]
    for (const { test, ...only } of [...first, ...order.map((each) => ({ test: each }))]) {
      if (performance.now() > end) return undefined
      if (!existsSync(join(root, test))) continue
      const outcome = await tester.run({ do: 'run', test: join(root, test), texts, ...only }, () => LIMIT_MS)
      if (outcome === 'timeout' || outcome.failed.length > 0) return true
    }
    return false
  }
}
