import { type Goal, type Mark, markOf, type Reading, tally } from '../result/reading.ts'
import { amount, DECIMALS } from './cells.ts'
import { figure, markdownNotes, markdownTable, table } from './columns.ts'

const MARKS: Readonly<Record<Mark, string>> = {
  reached: 'reached',
  missed: 'MISSED',
  floor: 'below the floor',
  wrong: 'WRONG',
  absent: 'not measured',
  reported: '',
}

/** Readings as texts: a heading, a line of cells for each with its mark apart, and what belongs below. The last cell is the over-grant. */
export interface ReadingParts {
  readonly heading: readonly string[]
  readonly rows: readonly { readonly reading: Reading; readonly title: string; readonly mark: string; readonly cells: readonly string[] }[]
  /** The floors, and the reasons why figures are missing. */
  readonly notes: readonly string[]
}

export function readingParts(readings: readonly Reading[]): ReadingParts {
  const processor = readings.some((reading) => 'processor' in reading)
  const floors = readings.flatMap((reading) => {
    if ('absent' in reading || reading.floor === undefined) return []
    const { floor, unit, goal } = reading
    const extreme = goal !== undefined && 'atLeast' in goal ? 'most' : 'least'
    const against = unit === 'x' ? ', against the same baseline' : ''
    return [`the ${extreme} that ${titleOf(reading)} could be${against}: ${amount(floor.value, unit)} (${floor.what})`]
  })
  const missing = readings.flatMap((reading) => ('absent' in reading ? [reading.absent] : []))
  const reasons = [...new Set(missing)].map((absent) => `${missing.filter((other) => other === absent).length} not measured: ${absent}`)
  return {
    heading: ['figure', 'measured', 'goal', 'quartiles', ...(processor ? ['cpu'] : []), 'ours', 'baseline', 'over-grant'],
    rows: readings.map((reading) => {
      return { reading, title: titleOf(reading), mark: MARKS[markOf(reading)], cells: cellsOf(reading, processor) }
    }),
    notes: [...floors, ...reasons],
  }
}

/** Readings as an aligned table, with the notes below it. */
export function readingsTable(readings: readonly Reading[]): string {
  const { heading, rows, notes } = withMarks(readings)
  return [table(heading, rows), ...notes].join('\n')
}

/** Readings as a Markdown table, with the notes below it. */
export function readingsMarkdown(readings: readonly Reading[]): string {
  const { heading, rows, notes } = withMarks(readings)
  return [markdownTable(heading, rows), ...(notes.length === 0 ? [] : [markdownNotes(notes)])].join('\n\n')
}

/** The mark is a column of its own behind the goal. */
function withMarks(readings: readonly Reading[]): { heading: string[]; rows: string[][]; notes: readonly string[] } {
  const { heading, rows, notes } = readingParts(readings)
  return {
    heading: [...heading.slice(0, 3), '', ...heading.slice(3)],
    rows: rows.map(({ title, mark, cells }) => [title, ...cells.slice(0, 2), mark, ...cells.slice(2)]),
    notes,
  }
}

/** The number of readings with each mark, such as `9 reached, 4 missed`. Marks without readings are left out. */
export function tallyText(readings: readonly Reading[]): string {
  const counts = tally(readings)
  const words: readonly [Mark, string][] = [
    ['reached', 'reached'],
    ['missed', 'missed'],
    ['floor', 'below a measured floor'],
    ['wrong', 'answered wrongly'],
    ['absent', 'not measured'],
  ]
  const parts = words.flatMap(([mark, word]) => (counts[mark] === 0 ? [] : [`${counts[mark]} ${word}`]))
  return parts.length === 0 ? 'no goal was set' : parts.join(', ')
}

function cellsOf(reading: Reading, processor: boolean): string[] {
  if ('absent' in reading) return ['', goalText(reading.goal), '', ...(processor ? [''] : []), '', '', '']
  const cpu = reading.processor === undefined ? '' : amount(reading.processor.median, reading.unit)
  const { value, unit, goal, spread, ours = '', baseline = '', overGrantPercent } = reading
  const quartiles = spread === undefined ? '' : `${figure(spread.low, DECIMALS[unit])} .. ${figure(spread.high, DECIMALS[unit])}`
  const over = overGrantPercent === undefined ? '' : amount(overGrantPercent, '%')
  return [amount(value, unit), goalText(goal), quartiles, ...(processor ? [cpu] : []), ours, baseline, over]
}

export function titleOf({ name, profile }: Reading): string {
  return profile === undefined ? name : `${name} [${profile}]`
}

export function goalText(goal: Goal | undefined): string {
  if (goal === undefined) return ''
  const [sign, bound] = 'atMost' in goal ? ['<=', goal.atMost] : ['>=', goal.atLeast]
  return `${sign} ${bound.toLocaleString('en-US', { maximumFractionDigits: 2 })}`
}
