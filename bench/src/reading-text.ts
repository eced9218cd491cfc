import { type Goal, type Mark, markOf, type Reading, tally, type Unit } from './reading.ts'
import { figure, markdownTable, table } from './report.ts'

const MARKS: Readonly<Record<Mark, string>> = {
  reached: 'reached',
  missed: 'MISSED',
  floor: 'below the floor',
  wrong: 'WRONG',
  absent: 'not measured',
  reported: '',
}

const DECIMALS: Readonly<Record<Unit, number>> = { x: 2, ns: 0, us: 2, ms: 2, s: 0, bytes: 0, calls: 3, '%': 2 }

/** `1.97 x`, `3.02 us`. */
export function amount(value: number, unit: Unit): string {
  return `${Number.isNaN(value) ? '?' : figure(value, DECIMALS[unit])} ${unit}`
}

/** Readings as an aligned table; below it the floors, and why a figure could not be taken. */
export function readingsTable(readings: readonly Reading[]): string {
  const processor = readings.some((reading) => 'processor' in reading)
  const heading = ['figure', 'measured', 'goal', '', 'quartiles', ...(processor ? ['cpu'] : []), 'ours', 'baseline', 'over-grant']
  const floors = readings.flatMap((reading) => {
    if ('absent' in reading || reading.floor === undefined) return []
    const { floor, unit } = reading
    return [`floor of ${titleOf(reading)}: ${amount(floor.value, unit)} (${floor.what})`]
  })
  const missing = readings.flatMap((reading) => ('absent' in reading ? [reading.absent] : []))
  const reasons = [...new Set(missing)].map((absent) => `${missing.filter((other) => other === absent).length} not measured: ${absent}`)
  return [
    table(
      heading,
      readings.map((reading) => rowOf(reading, processor)),
    ),
    ...floors,
    ...reasons,
  ].join('\n')
}

/** The same for documents: figures with what they are held against. */
export function readingsMarkdown(readings: readonly Reading[]): string {
  const processor = readings.some((reading) => 'processor' in reading)
  const heading = ['figure', 'measured', 'goal', '', 'quartiles', ...(processor ? ['cpu'] : []), 'ours', 'baseline']
  return markdownTable(
    heading,
    readings.map((reading) => rowOf(reading, processor).slice(0, heading.length)),
  )
}

/** `9 reached, 4 missed, ...`; marks that were not given are left out. */
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

function rowOf(reading: Reading, processor: boolean): string[] {
  const mark = MARKS[markOf(reading)]
  if ('absent' in reading) return [titleOf(reading), '', goalText(reading.goal), mark]
  const cpu = reading.processor === undefined ? '' : amount(reading.processor.median, reading.unit)
  const { value, unit, goal, spread, ours = '', baseline = '', overGrantPercent } = reading
  const quartiles = spread === undefined ? '' : `${figure(spread.low, DECIMALS[unit])} .. ${figure(spread.high, DECIMALS[unit])}`
  const over = overGrantPercent === undefined ? '' : amount(overGrantPercent, '%')
  return [titleOf(reading), amount(value, unit), goalText(goal), mark, quartiles, ...(processor ? [cpu] : []), ours, baseline, over]
}

function titleOf({ name, profile }: Reading): string {
  return profile === undefined ? name : `${name} [${profile}]`
}

function goalText(goal: Goal | undefined): string {
  if (goal === undefined) return ''
  const [sign, bound] = 'atMost' in goal ? ['<=', goal.atMost] : ['>=', goal.atLeast]
  return `${sign} ${bound.toLocaleString('en-US', { maximumFractionDigits: 2 })}`
}
