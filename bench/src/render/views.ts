import { HOT_LOAD, peerReadingName } from '../redis/peer-names.ts'
import type { Measured } from '../result/reading.ts'
import type { SuiteResults } from '../result/suite-result.ts'
import { type Cell, isSpread, type Row } from '../result/table.ts'
import { columnAmount } from './cells.ts'
import { figure, markdownTable } from './columns.ts'
import { type Finding, findingsOf } from './findings.ts'
import { misses } from './misses.ts'

/**
 * Tables for documents that take figures from several parts. A block `<!-- bench: view NAME -->` shows one. Each returns undefined if a
 * part that it needs was not measured.
 */
export const VIEWS: ReadonlyMap<string, (suites: readonly SuiteResults[]) => string | undefined> = new Map([
  ['proofs', proofs],
  ['losses', losses],
  ['misses', misses],
])

/**
 * README's three proofs: exact, fast, survives.
 * @throws Error if a part was measured but has another name for a figure, because README would then show old figures for ever
 */
function proofs(suites: readonly SuiteResults[]): string | undefined {
  const parts = [partOf(suites, 'seed-003', 'over-grant'), partOf(suites, 'redis', 'peers'), partOf(suites, 'redis', 'one-caller')]
  if (parts.includes(undefined)) return undefined
  const grants = rowsOf(suites, 'seed-003', 'over-grant', 'over-grant')
  const [ours, racing] = ['Sluice', 'multi-command'].map((name) => grants?.find((row) => row.name === name))
  const [lua, peer] = ['Lua EVALSHA', 'rate-limiter-flexible'].map((name) =>
    readingOf(suites, 'redis', 'peers', peerReadingName('Sluice', name, HOT_LOAD)),
  )
  const alone = readingOf(suites, 'redis', 'one-caller', 'Sluice')
  if (ours === undefined || racing === undefined || lua === undefined || peer === undefined || alone === undefined)
    throw new Error('the proofs of README need a figure that the results have under another name')
  const [passed, most, others] = [ours.cells['allowed'], ours.cells['nominal'], racing.cells['allowed']].map(count)
  const exact = `64 callers on one key, at most ${most} may pass: Sluice let ${passed} pass, a limiter that reads and then writes ${others}`
  const processor = peer.processor === undefined ? '' : `, with ${times(1 / peer.processor.median)} the processor time`
  const fast = [
    `on Redis, one key, 64 callers: ${times(lua.value)} the decisions per second of one EVALSHA a call${doubtOf(lua)},`,
    `${times(peer.value)} those of rate-limiter-flexible${doubtOf(peer)}${processor}.`,
    `A single caller${verdictOf(alone)}: ${times(alone.value)} the time of a bare EVALSHA.`,
    slowest(suites),
  ].join(' ')
  const survives = [
    'fault tests stop, kill, cut and fail over Redis, PostgreSQL and the service under load: no token above the bounds of',
    '[SECURITY.md](SECURITY.md). A dead store gives `undecided` by the deadline, never a false 429',
  ].join(' ')
  return markdownTable(
    ['', '', 'see it'],
    [
      ['**Exact**', exact, '`npm run bench -- seed-003 --only over-grant`'],
      ['**Fast**', fast, '`npm run bench -- redis --only one-caller,peers`'],
      ['**Survives**', survives, '`npm run test:faults`; on your store `sluice verify --faults`'],
    ],
  )
}

/** The text that is added to a ratio if its quartiles include 1, because then no side is clearly better. */
function doubtOf({ value, spread = { low: value, median: value, high: value } }: Measured): string {
  return spread.low <= 1 && spread.high >= 1 ? ' (no clear difference)' : ''
}

/** Whether a ratio of times is a win or a loss: its quartiles are wholly on one side of 1. */
function verdictOf({ value, spread = { low: value, median: value, high: value } }: Measured): string {
  if (spread.high < 1) return ' wins'
  return spread.low > 1 ? ' loses' : ', no clear difference'
}

/** Names the comparison on Redis in which Sluice with its defaults is clearly slower than another limiter, by the largest factor. */
function slowest(suites: readonly SuiteResults[]): string {
  const redis = suites.find(({ suite }) => suite === 'redis') as SuiteResults
  const { findings } = findingsOf({ ...redis, parts: redis.parts.filter(({ name }) => name === 'peers') })
  const factor = ({ ratio }: Finding): number => (ratio === undefined ? 1 : 1 / ratio.median)
  const [loss] = findings.filter(({ verdict }) => verdict === 'worse').toSorted((one, other) => factor(other) - factor(one))
  if (loss === undefined) return 'There no other way is clearly faster'
  const { title, ours, other, column } = loss
  const [own, held] = [ours, other].map(({ value }) => columnAmount(value, column))
  return `Its largest loss there, ${title.replace(/^peers, /, '')}: ${own} (${column.title}), ${other.name} ${held}`
}

/** Every ranking in which Sluice with its defaults is clearly worse than another limiter that answered correctly. */
function losses(suites: readonly SuiteResults[]): string | undefined {
  if (suites.length === 0) return undefined
  const rows = suites.flatMap((suite) =>
    findingsOf(suite)
      .findings.filter(({ verdict }) => verdict === 'worse')
      .map(({ title, column, ours, other, ratio }) => [
        `\`${suite.suite}\``,
        title,
        `${ours.name}: ${columnAmount(ours.value, column)}`,
        `${other.name}: ${columnAmount(other.value, column)}`,
        column.title,
        ratio === undefined ? '' : `${figure(1 / ratio.median, 1)} x`,
      ]),
  )
  if (rows.length === 0) return 'The committed results have no such ranking.'
  return markdownTable(['suite', 'ranking', 'ours', 'better', 'figure', 'as good'], rows)
}

function partOf(suites: readonly SuiteResults[], suite: string, part: string) {
  return suites.find((one) => one.suite === suite)?.parts.find(({ name }) => name === part)
}

function rowsOf(suites: readonly SuiteResults[], suite: string, part: string, table: string): readonly Row[] | undefined {
  return partOf(suites, suite, part)?.tables.find(({ name }) => name === table)?.rows
}

function readingOf(suites: readonly SuiteResults[], suite: string, part: string, name: string): Measured | undefined {
  const reading = partOf(suites, suite, part)?.readings.find((one) => one.name === name)
  return reading === undefined || 'absent' in reading ? undefined : reading
}

function count(cell: Cell): string {
  if (isSpread(cell)) return figure(cell.median)
  return typeof cell === 'number' ? figure(cell) : '?'
}

function times(ratio: number): string {
  return `${figure(ratio, ratio < 1 ? 2 : 1)} x`
}
