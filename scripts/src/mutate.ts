import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { type Mutant, mutantsOf } from './mutate/mutants.ts'
import { marked } from './mutate/reach.ts'
import { openRecord } from './mutate/record.ts'
import { describe, type Explanation, reportOf, type Tried } from './mutate/report.ts'
import { createTester, type Tester } from './mutate/tester.ts'
import { createTrial, prepare, type Test, type Trial } from './mutate/trial.ts'
import { filesBelow } from './source-files.ts'

/**
 * `npm run mutate`: changes one operator, constant or statement at a time and runs the tests that reach it; what no test notices
 * is listed. `--without` leaves out tests whose path has the text.
 * Usage: mutate.js [--sample N] [--fresh] [--workers N] [--without TEXT] [PATH ...]
 */
const ROOMS = ['packages/sluice/src/algorithms', 'packages/sluice/src/stores/memory']
/** Of one test file: worth a word, since a survivor runs all. */
const SLOW_MS = 5_000
const EXPLANATIONS = 'packages/sluice/test/mutants.json'

const root = join(import.meta.dirname, '..', '..')
const cache = join(root, 'node_modules', '.cache', 'sluice')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    fresh: { type: 'boolean', default: false },
    workers: { type: 'string' },
    without: { type: 'string', multiple: true, default: [] },
  },
})
const workers = Number(values.workers ?? Math.max(1, Math.floor(availableParallelism() / 2)))
const sample = Number(values.sample ?? Infinity)
if (!(workers >= 1 && sample >= 1)) {
  console.error('usage: npm run mutate -- [--sample N] [--fresh] [--workers N] [--without TEXT] [PATH ...], N at least 1')
  process.exit(3)
}

const sources = new Map(filesOf(positionals.length > 0 ? positionals : ROOMS).map((file) => [file, readFileSync(join(root, file), 'utf8')]))
const known = [...sources].flatMap(([file, source]) => mutantsOf(file, source))
// Spread evenly, so that a sample has something of every file.
const chosen = known.filter((_, index) => Math.floor((index * sample) / known.length) !== Math.floor(((index + 1) * sample) / known.length))
const mutants = sample >= known.length ? known : chosen
const record = openRecord(
  join(cache, 'mutants.json'),
  sources,
  programsBelow(['packages/sluice/src', 'packages/sluice/test']),
  values.fresh,
)
await tryAll(mutants.filter((mutant) => record.statusOf(mutant) === undefined))

const tried = mutants.flatMap((mutant): Tried[] => {
  const status = record.statusOf(mutant)
  return status === undefined ? [] : [{ mutant, status }]
})
const explanations = existsSync(join(root, EXPLANATIONS))
  ? (JSON.parse(readFileSync(join(root, EXPLANATIONS), 'utf8')) as Explanation[])
  : []
const report = reportOf(tried, known, explanations)
console.log(`\n${report.text}`)
if (report.unexplained.length > 0) {
  const file = join(cache, 'survivors.json')
  writeFileSync(file, `[\n${report.unexplained.map((one) => `  ${JSON.stringify(one)}`).join(',\n')}\n]\n`)
  console.log(`${relative(root, file)} has them in the form of ${EXPLANATIONS}, without a reason`)
}
process.exit(report.ok ? 0 : 1)

async function tryAll(open: readonly Mutant[]): Promise<void> {
  console.log(`${known.length} mutants of ${sources.size} files; ${mutants.length} asked for, ${open.length} to try, ${workers} at a time`)
  if (open.length === 0) return
  const testers = Array.from({ length: Math.min(workers, open.length) }, () => createTester(root))
  const trials = new Map<string, Trial>()
  const seen = new Map<string, Test>()
  const marks = Object.fromEntries([...sources].map(([file, source]) => [join(root, file), marked(join(root, file), source)]))
  for (const file of new Set(open.map((mutant) => mutant.file))) {
    const tests = await prepare(root, join(root, file), testers[0] as Tester, marks, seen, values.without)
    trials.set(file, createTrial(join(root, file), sources.get(file) ?? '', tests))
  }
  for (const { path, ms } of [...seen.values()].filter((test) => test.ms > SLOW_MS)) {
    console.log(`${relative(root, path)} takes ${(ms / 1_000).toFixed(0)} s, and every survivor takes as long`)
  }
  const queue = [...open]
  const started = performance.now()
  let done = 0
  await Promise.all(
    testers.map(async (tester) => {
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        const status = await (trials.get(mutant.file) as Trial).try(mutant, tester)
        record.add(mutant, status)
        done += 1
        const seconds = ((performance.now() - started) / 1_000).toFixed(0)
        console.log(`${done}/${open.length} ${seconds} s  ${status.padEnd(8)} ${describe(mutant)}`)
      }
    }),
  )
  for (const tester of testers) tester.stop()
}

/** The TypeScript files of these paths, which are files or folders below the root. */
function filesOf(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const below = relative(root, join(root, path))
    if (!existsSync(join(root, below))) {
      console.error(`there is no ${path}`)
      process.exit(3)
    }
    if (statSync(join(root, below)).isFile()) return [below]
    return filesBelow(join(root, below))
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.gen.ts'))
      .map((file) => `${below}/${file}`)
  })
}

/** The explanations are beside the tests, and decide nothing. */
function programsBelow(folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    filesBelow(join(root, folder))
      .filter((file) => `${folder}/${file}` !== EXPLANATIONS)
      .map((file) => readFileSync(join(root, folder, file), 'utf8')),
  )
}
