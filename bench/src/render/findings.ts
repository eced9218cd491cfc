import { tally, type Mark } from '../result/reading.ts'
import type { Spread } from '../result/statistics.ts'
import type { PartResults, SuiteResults } from '../result/suite-result.ts'
import { isSpread, isWrong, type Column, type Row, type Table } from '../result/table.ts'
import { byLoad } from './by-load.ts'
import { columnAmount } from './cells.ts'
import { figure } from './columns.ts'
import { readingParts } from './readings.ts'

/** The name of Sluice's rows with default options. The names of Sluice's other rows contain the options. */
const DEFAULT = 'Sluice'

export type Verdict = 'better' | 'worse' | 'alike'

/**
 * How Sluice compares, in one ranking, with every other limiter that answered correctly. Sluice's row is the default one, if the ranking
 * has it. `other` is the best of the limiters that are clearly better, if there is one. The limiter with the best median need not be
 * clearly better, because its quartiles may overlap those of Sluice.
 */
export interface Finding {
  /** The part, with the table and the load if the part has several. */
  readonly title: string
  readonly column: Column
  readonly ours: { readonly name: string; readonly value: number; readonly wrong: boolean }
  readonly other: { readonly name: string; readonly value: number }
  /**
   * `worse`: another limiter is clearly better than Sluice. `better`: Sluice is clearly better than all others. `alike`: the quartiles of
   * another limiter overlap those of Sluice.
   */
  readonly verdict: Verdict
  /**
   * How many times as good as the other limiter Sluice is, from the quartiles that are worst for Sluice to those that are best. Absent if a
   * quartile is not above 0.
   */
  readonly ratio?: Spread
}

/** What was found in a suite, counted from its rows. */
export interface SuiteFindings {
  readonly findings: readonly Finding[]
  /** The number of rankings in which Sluice is better or worse, and of those in which the quartiles overlap. */
  readonly better: number
  readonly worse: number
  readonly alike: number
  readonly rows: number
  /** Names of the ways that answered wrongly somewhere. */
  readonly wrong: readonly string[]
  readonly wrongRows: number
  readonly notAudited: number
  /** Disturbed rows, and parts. */
  readonly disturbed: number
  readonly disturbedParts: number
  readonly marks: Readonly<Record<Mark, number>>
}

export function findingsOf({ parts }: SuiteResults): SuiteFindings {
  const findings = parts.flatMap((part) => part.tables.flatMap((table) => findingsOfTable(part, table)))
  const rows = parts.flatMap(({ tables }) => tables.flatMap((table) => table.rows))
  const wrong = rows.filter(isWrong)
  const count = (verdict: Verdict): number => findings.filter((finding) => finding.verdict === verdict).length
  return {
    findings,
    better: count('better'),
    worse: count('worse'),
    alike: count('alike'),
    rows: rows.length,
    wrong: [...new Set(wrong.map(({ name }) => name))],
    wrongRows: wrong.length,
    notAudited: rows.filter((row) => 'overGrant' in row && typeof row.overGrant !== 'number').length,
    disturbed: rows.filter(({ disturbed }) => disturbed !== undefined).length,
    disturbedParts: parts.filter(({ disturbed }) => disturbed !== undefined).length,
    marks: tally(parts.flatMap(({ readings }) => readings)),
  }
}

function findingsOfTable({ name, tables }: PartResults, { title, columns, rows, rank }: Table): Finding[] {
  const column = columns.find(({ key }) => key === rank?.column)
  if (rank === undefined || column === undefined) return []
  const several = tables.filter((table) => table.rank !== undefined).length > 1
  return [...byLoad(rows)].flatMap(([load, members]) => {
    const own = members.filter(({ kind }) => kind === 'ours')
    // Sluice's row is chosen before rows are left out. Otherwise another row of Sluice would replace a default row that has no figure.
    const ours = sideOf(own.find((row) => row.name === DEFAULT) ?? own[0], column)
    const correct = members.filter((row) => (row.kind === 'peer' || row.kind === 'baseline') && !isWrong(row))
    const sides = correct.flatMap((row) => sideOf(row, column) ?? [])
    const goodness = ({ spread }: Side): number => (rank.best === 'least' ? -spread.median : spread.median)
    if (ours === undefined) return []
    const against = (other: Side): Standing => standingOf(ours.spread, other.spread, rank.best)
    const ranked = sides.toSorted((one, next) => goodness(next) - goodness(one))
    const other = ranked.find((side) => against(side).verdict === 'worse') ?? ranked[0]
    if (other === undefined) return []
    const { verdict, above, below } = against(other)
    return [
      {
        title: [name, ...(several ? [title] : []), ...(load === undefined ? [] : [load])].join(', '),
        column,
        ours: { name: ours.name, value: ours.spread.median, wrong: ours.wrong },
        other: { name: other.name, value: other.spread.median },
        verdict: verdict === 'better' && ranked.some((side) => against(side).verdict !== 'better') ? 'alike' : verdict,
        // A ratio says nothing where a figure may be 0 or negative, such as a difference.
        ...(above.low > 0 && below.low > 0 ? { ratio: quotient(above, below) } : {}),
      },
    ]
  })
}

/** One of the two rows that are compared. */
interface Side {
  readonly name: string
  readonly spread: Spread
  readonly wrong: boolean
}

/** The side of a row in a comparison; undefined without a row, or if its figure is not a number. */
function sideOf(row: Row | undefined, { key }: Column): Side | undefined {
  const cell = row?.cells[key]
  const spread = isSpread(cell) ? cell : typeof cell === 'number' ? { low: cell, median: cell, high: cell } : undefined
  if (row === undefined || spread === undefined || ![spread.low, spread.median, spread.high].every(Number.isFinite)) return undefined
  return { name: row.name.trim(), spread, wrong: isWrong(row) }
}

interface Standing {
  readonly verdict: Verdict
  /**
   * `above` and `below` are the spreads of Sluice's row and of the other row. Their order is such that a larger quotient `above` / `below`
   * is better for Sluice.
   */
  readonly above: Spread
  readonly below: Spread
}

function standingOf(ours: Spread, other: Spread, best: 'least' | 'most'): Standing {
  const [above, below] = best === 'least' ? [other, ours] : [ours, other]
  return { above, below, verdict: above.low > below.high ? 'better' : above.high < below.low ? 'worse' : 'alike' }
}

function quotient(over: Spread, under: Spread): Spread {
  return { low: over.low / under.high, median: over.median / under.median, high: over.high / under.low }
}

/**
 * The finding of a suite in one sentence: that of the first ranking by a figure with a unit, otherwise that of the first ranking. Without
 * a ranking it is the first figure with a goal.
 */
export function headline({ findings }: SuiteFindings, parts: readonly PartResults[]): string {
  const first = findings.find(({ column }) => column.unit !== undefined) ?? findings[0]
  if (first === undefined) return goalLine(parts) ?? 'No ranking has both a way of ours and another one.'
  const { title, column, ours, other, verdict, ratio } = first
  const [own, held] = [columnAmount(ours.value, column), columnAmount(other.value, column)]
  const doubt = ours.wrong ? ', but WRONG answers' : ''
  const compared = ratio === undefined ? VERDICTS[verdict] : `${timesText(ratio)} as good as`
  return `${title}: ${ours.name} ${own}${doubt}, ${compared} ${other.name} with ${held} (${column.title}).`
}

const VERDICTS: Readonly<Record<Verdict, string>> = { better: 'better than', worse: 'worse than', alike: 'not clearly different from' }

function timesText({ low, median, high }: Spread): string {
  return `${figure(median, 2)} × (${figure(low, 2)} .. ${figure(high, 2)})`
}

function goalLine(parts: readonly PartResults[]): string | undefined {
  for (const { name, readings } of parts) {
    const { rows } = readingParts(readings)
    const row = rows.find(({ reading }) => !('absent' in reading))
    if (row === undefined) continue
    const [measured = '', goal = ''] = row.cells
    return `${name}: ${row.title} ${measured}${goal === '' ? '' : `, goal ${goal}: ${row.mark}`}.`
  }
  return undefined
}

/** In how many of the suite's rankings Sluice is better, such as `better in 3, worse in 1, no clear difference in 2`. */
export function standing({ better, worse, alike, findings }: SuiteFindings): string {
  if (findings.length === 0) return ''
  return `better in ${better}, worse in ${worse}, no clear difference in ${alike}`
}
