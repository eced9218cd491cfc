import type { Mark, Measured } from '../result/reading.ts'
import type { PartResults, SuiteResults } from '../result/suite-result.ts'
import { amount, columnAmount, DECIMALS } from './cells.ts'
import { figure, markdownTable } from './columns.ts'
import { findingsOf } from './findings.ts'
import { goalText, titleOf } from './readings.ts'

const WORDS: Readonly<Partial<Record<Mark, string>>> = { missed: 'MISSED', floor: 'below the floor', wrong: 'WRONG' }
const HEADING = ['suite', 'figure', 'goal', 'measured', 'quartiles', '', 'baseline', 'floor', 'better there'] as const

/** Every figure that missed its goal, with its floor and the limiters that are clearly better than Sluice in the same part. */
export function misses(suites: readonly SuiteResults[]): string | undefined {
  if (suites.length === 0) return undefined
  const rows = suites.flatMap((suite) => suite.parts.flatMap((part) => missesOf(suite, part)))
  return rows.length === 0 ? 'No figure of the committed results missed its goal.' : markdownTable(HEADING, rows)
}

function missesOf(results: SuiteResults, part: PartResults): string[][] {
  const missed = part.readings.flatMap((reading) => (WORDS[reading.mark] === undefined || 'absent' in reading ? [] : [reading]))
  if (missed.length === 0) return []
  const { findings } = findingsOf({ ...results, parts: [part] })
  const ranked = findings
    .filter(({ verdict }) => verdict === 'worse')
    .map(({ title, column, other }) => {
      const where = title === part.name ? '' : ` (${title.slice(part.name.length + 2)})`
      return `${other.name}, ${columnAmount(other.value, column)}${where}`
    })
  return missed.map((reading) => [
    `\`${results.suite} ${part.name}\``,
    titleOf(reading),
    goalText(reading.goal),
    amount(reading.value, reading.unit),
    quartilesOf(reading),
    WORDS[reading.mark] as string,
    reading.baseline ?? '',
    reading.floor === undefined ? 'not measured' : `${amount(reading.floor.value, reading.unit)}: ${reading.floor.what}`,
    [...lostTo(reading, results), ...ranked].join('; ') || 'none',
  ])
}

/**
 * The baseline of a ratio, if it is another limiter and clearly better than Sluice. A baseline may also be Sluice under another load, which
 * does not count.
 */
function lostTo({ unit, goal, spread, baseline = '' }: Measured, { parts }: SuiteResults): string[] {
  if (unit !== 'x' || goal === undefined || spread === undefined) return []
  const lost = 'atMost' in goal ? spread.low > 1 : spread.high < 1
  const rows = parts.flatMap(({ tables }) => tables.flatMap((table) => table.rows))
  const isWay = rows.some(({ name, kind }) => (kind === 'peer' || kind === 'baseline') && baseline.startsWith(`${name} `))
  return lost && isWay ? [baseline] : []
}

function quartilesOf({ spread, unit }: Measured): string {
  return spread === undefined ? '' : `${figure(spread.low, DECIMALS[unit])} .. ${figure(spread.high, DECIMALS[unit])}`
}
