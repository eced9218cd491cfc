import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { compareFolders } from './compare-folders.ts'
import { writeFigures } from './documents.ts'
import { MissingEngine } from './engines.ts'
import { type Comparison, type Order, orderOf, USAGE } from './order.ts'
import { overdue, planText } from './plan.ts'
import { reportHtml } from './render/html.ts'
import { reportMarkdown } from './render/markdown.ts'
import { suiteText } from './render/text.ts'
import { LOCAL, PUBLISHED, readResults, writeResults } from './results.ts'
import type { SuiteResults } from './result/suite-result.ts'
import { type RunOptions, runSuite } from './run-suite.ts'
import { SUITES } from './suites/index.ts'
import { type Undos, undosOf } from './undos.ts'

/**
 * `npm run bench -- [SUITE ...] [option ...]`. Exit codes: 0 measured; 1 a part failed, even if an engine is missing too; 2 an engine is
 * missing; 3 wrong arguments; 130 or 143 interrupted. Exit codes of `compare`: 0 both runs rank alike; 1 they do not; 3 nothing was
 * compared, or the arguments are wrong.
 */

/** The root of the repository, relative to bench/dist, where this file is compiled to. */
const ROOT = resolve(import.meta.dirname, '..', '..')
const NAMES = SUITES.map(({ name }) => name)

/** Measures, prints and makes the report. Also after an interrupted run, its servers are stopped and what it measured is reported. */
async function run({ results, write, plan, ...wanted }: Order): Promise<number> {
  if (plan) {
    console.log(planText(wanted))
    return 0
  }
  const folder = results ?? join(ROOT, write ? PUBLISHED : LOCAL)
  // Makes the folder now, so that an error is reported before the run and not after minutes.
  mkdirSync(folder, { recursive: true })
  const say = progress(wanted.suites.length > 1)
  const undos = undosOf()
  const stop = new AbortController()
  const interrupted = new Promise<number>((settle) => {
    const interrupt = (code: number): void => {
      stop.abort()
      settle(code)
    }
    process.once('SIGINT', () => interrupt(130))
    process.once('SIGTERM', () => interrupt(143))
  })
  let code = 1
  try {
    code = await Promise.race([measure(wanted, { folder, say, undos, signal: stop.signal }), interrupted])
  } catch (error) {
    console.error(error)
  }
  await undos.run()
  publish(folder, write, say)
  return code
}

interface MeasureOptions extends Pick<RunOptions, 'say' | 'signal'> {
  readonly folder: string
  readonly undos: Undos
}

/** Measures the suites and writes their results. Returns the exit code. */
async function measure(
  { suites, ...wanted }: Omit<Order, 'write' | 'plan'>,
  { folder, say, signal, undos }: MeasureOptions,
): Promise<number> {
  const errors: Error[] = []
  for (const suite of suites) {
    const names = suite.parts.map(({ name }) => name)
    const onPart = (found: SuiteResults): void => writeResults(folder, found, names)
    const { results, errors: more } = await runSuite(suite, { ...wanted, say, signal, onPart, atEnd: undos.add })
    if (signal.aborted) break
    console.log(`${suiteText(results)}\n`)
    if (wanted.seconds === undefined) overdue(results).forEach(say)
    errors.push(...more)
    await undos.run()
  }
  if (errors.length === 0) return 0
  return errors.every((error) => error instanceof MissingEngine) ? 2 : 1
}

/** Makes the report of all results in the folder, and shows them in the documents if `write` is set. */
function publish(folder: string, write: boolean, say: (line: string) => void): void {
  const all = readResults(folder, NAMES)
  // A run that was interrupted before its first part has nothing to report.
  if (all.length === 0) return
  writeFileSync(join(folder, 'report.md'), reportMarkdown(all))
  writeFileSync(join(folder, 'report.html'), reportHtml(all))
  say(`written: ${relative(process.cwd(), join(folder, 'report.html'))}`)
  if (write) for (const file of writeFigures(ROOT, all)) say(`written: ${file}`)
}

/** Prints progress; a long run also says how long it has taken. */
function progress(long: boolean): (line: string) => void {
  const started = performance.now()
  return (line) => {
    const seconds = Math.round((performance.now() - started) / 1_000)
    const passed = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
    console.error(long ? `${passed.padStart(6)}  ${line}` : line)
  }
}

function compare({ compare: folders }: Comparison): number {
  const { code, out, err } = compareFolders(folders, NAMES)
  if (out !== '') console.log(out)
  if (err !== '') console.error(err)
  return code
}

const args = process.argv.slice(2)
const order = args.includes('--help') ? undefined : orderOf(args)
if (order === undefined) {
  console.log(USAGE)
} else if (typeof order === 'string') {
  console.error(`${order}\n\n${USAGE}`)
  process.exitCode = 3
} else {
  // Processes of lanes count what belongs to this run.
  process.env['SLUICE_BENCH_PID'] = String(process.pid)
  const code = 'compare' in order ? compare(order) : await run(order)
  // Exits explicitly, because an interrupted run may have open connections. All output is already written.
  process.exit(code)
}
