import type { Plot } from '../result/plot.ts'
import type { PartResults, SuiteResults } from '../result/suite-result.ts'
import type { Table } from '../result/table.ts'
import { cellLine, cellTexts, notAudited } from './cells.ts'
import { figure, markdownNotes, markdownTable } from './columns.ts'
import { OVERVIEW_HEADING, overviewCells } from './overview.ts'
import { plotNumbers } from './plot-numbers.ts'
import { readingsMarkdown } from './readings.ts'
import { machineText } from './text.ts'

/** Everything that a part measured, as Markdown without a heading, because documents have their own. Plots are in the report only. */
export function partMarkdown(part: Pick<PartResults, 'readings' | 'tables' | 'notes'>): string {
  const figures = figuresMarkdown(part)
  return [...(figures === '' ? [] : [figures]), ...(part.notes.length === 0 ? [] : [markdownNotes(part.notes)])].join('\n\n')
}

function figuresMarkdown({ readings, tables }: Pick<PartResults, 'readings' | 'tables'>): string {
  return [...(readings.length === 0 ? [] : [readingsMarkdown(readings)]), ...tables.map(tableMarkdown)].join('\n\n')
}

export function tableMarkdown(table: Table): string {
  const { heading, rows } = cellTexts(table)
  const below = [...(table.notes ?? []), ...notAudited(table.rows)]
  return [`${table.title}:`, markdownTable(heading, rows), ...(below.length === 0 ? [] : [below.join('\n')])].join('\n\n')
}

function plotMarkdown(plot: Plot): string[] {
  const numbers = plotNumbers(plot)
  if (numbers === undefined) return []
  const rows = numbers.rows.map((cells) => cells.map(cellLine))
  return [`${plot.title}: ${plot.y.title}`, markdownTable(numbers.heading, rows)]
}

/** The report of all suites as one Markdown file. */
export function reportMarkdown(suites: readonly SuiteResults[]): string {
  const overview = suites.map((results) => [results.suite, ...overviewCells(results)])
  const text = suites.flatMap(({ suite, title, document, parts }) => [
    `## ${suite}: ${title}`,
    ...(document === undefined ? [] : [`Reproduces the figures of “${document}”.`]),
    ...parts.flatMap((part) => [
      `### ${part.title}`,
      `\`npm run bench -- ${suite} --only ${part.name}\`, ${machineText(part.machine, part.servers)}; ${figure(part.took)} s in all.`,
      ...(part.disturbed === undefined ? [] : [`**Disturbed: ${part.disturbed} of the machine while it ran.**`]),
      ...(part.readings.length + part.tables.length === 0 ? [] : [figuresMarkdown(part)]),
      ...part.plots.flatMap(plotMarkdown),
      ...(part.notes.length === 0 ? [] : [markdownNotes(part.notes)]),
    ]),
  ])
  return `${['# Benchmark report', markdownTable(OVERVIEW_HEADING, overview), ...text].join('\n\n')}\n`
}
