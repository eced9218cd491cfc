import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { type Mutant, mutantsOf } from './mutate/mutants.ts'
import { openRecord } from './mutate/record.ts'
import { type Explanation, reportOf, type Tried } from './mutate/report.ts'
import { ELSEWHERE, roomOf, ROOMS } from './mutate/rooms.ts'
import { drawSample } from './mutate/sample.ts'
import { runRoom } from './mutate/run-room.ts'
import { filesBelow } from './source-files.ts'

/**
 * `npm run mutate`: changes one operator, constant or statement at a time, and runs the tests that reach it. Changes that no test notices
 * are listed. `--without` leaves out tests whose path contains TEXT. `--draw` makes the tried mutants the fixed sample that
 * `mutate-sample.js` runs. Usage: mutate.js [--sample N] [--draw] [--fresh] [--workers N] [--without TEXT] [PATH ...]
 */
const EXPLANATIONS = 'packages/sluice/test/mutants.json'
const SAMPLE = 'packages/sluice/test/mutants-sample.json'

const root = join(import.meta.dirname, '..', '..')
const cache = join(root, 'node_modules', '.cache', 'sluice')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    draw: { type: 'boolean', default: false },
    fresh: { type: 'boolean', default: false },
    workers: { type: 'string' },
    without: { type: 'string', multiple: true, default: [] },
  },
})
const workers = Number(values.workers ?? Math.max(1, Math.floor(availableParallelism() / 2)))
const sample = Number(values.sample ?? Infinity)
if (!(workers >= 1 && sample >= 1)) {
  console.error('usage: npm run mutate -- [--sample N] [--draw] [--fresh] [--workers N] [--without TEXT] [PATH ...], N at least 1')
  process.exit(3)
}

const sources = new Map(
  filesOf(positionals.length > 0 ? positionals : ROOMS.flatMap(({ paths }) => paths)).map((file) => [
    file,
    readFileSync(join(root, file), 'utf8'),
  ]),
)
const known = [...sources].flatMap(([file, source]) => mutantsOf(file, source))
// The sample is spread evenly, so that it has mutants of every file.
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
if (values.draw) drawSample(join(root, SAMPLE), tried, (mutant) => record.noticedBy(mutant))
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
  console.log(`${known.length} mutants of ${sources.size} files; ${mutants.length} requested, ${open.length} to try, ${workers} at a time`)
  for (const room of [...ROOMS, ELSEWHERE]) {
    const here = new Map([...sources].filter(([file]) => roomOf(file) === room))
    await runRoom({
      root,
      room,
      mutants: open.filter(({ file }) => here.has(file)),
      sources: here,
      workers,
      without: values.without,
      record,
    })
  }
}

/** The source files of these paths, which are files or folders below the root. */
function filesOf(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const below = relative(root, join(root, path))
    if (!existsSync(join(root, below))) {
      console.error(`there is no ${path}`)
      process.exit(3)
    }
    if (statSync(join(root, below)).isFile()) return [below]
    return filesBelow(join(root, below))
      .filter((file) => /\.(?:ts|lua|sql)$/.test(file) && !file.endsWith('.gen.ts'))
      .map((file) => `${below}/${file}`)
  })
}

/** The files below these folders. The explanations and the sample are left out, because no result depends on them. */
function programsBelow(folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    filesBelow(join(root, folder))
      .filter((file) => ![EXPLANATIONS, SAMPLE].includes(`${folder}/${file}`))
      .map((file) => readFileSync(join(root, folder, file), 'utf8')),
  )
}
