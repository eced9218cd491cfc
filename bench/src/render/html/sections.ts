import type { PartResults, SuiteResults } from '../../result/suite-result.ts'
import type { Plot } from '../../result/plot.ts'
import { type Chart, dotChartOf, findingsChart, lineChartOf } from '../charts.ts'
import { figure } from '../columns.ts'
import { findingsOf } from '../findings.ts'
import { plotNumbers } from '../plot-numbers.ts'
import { machineText } from '../text.ts'
import { escaped, idOf } from './escape.ts'
import { cellHtml, notesHtml, readingsHtml, tableHtml, wideTable } from './tables.ts'

/** Collects what the script of the page draws, and returns the HTML of the place where the script draws it. */
export type Draw = (chart: Chart, name: string) => string

export function suiteHtml(results: SuiteResults, draw: Draw): string {
  const { suite, title, document, parts } = results
  const { findings } = findingsOf(results)
  const compared =
    findings.length < 2
      ? ''
      : figureHtml({
          caption: 'Sluice in each ranking, against the best other way that answered correctly',
          drawn: draw(findingsChart(findings), `${suite}: ours against the best other way`),
        })
  return `<section class=suite>
<h2 id="${idOf(suite)}">${escaped(suite)}: ${escaped(title)}</h2>
${document === undefined ? '' : `<p>Reproduces the figures of “${escaped(document)}”.`}
${compared}
${parts.map((part) => partHtml(suite, part, draw)).join('\n')}
</section>`
}

function partHtml(suite: string, part: PartResults, draw: Draw): string {
  const { name, title, machine, servers, disturbed, readings, tables, plots, notes } = part
  const id = idOf(suite, name)
  return `<section class=part>
<h3 id="${id}">${escaped(title)}</h3>
${disturbed === undefined ? '' : `<p class=disturbed><b>Disturbed</b>: ${escaped(disturbed)} of the machine while this part ran.`}
${readings.length === 0 ? '' : readingsHtml(readings, idOf(suite, name, 'goals'))}
${tables
  .map((table) => {
    const chart = dotChartOf(table)
    const drawn = chart === undefined ? '' : figureHtml({ drawn: draw(chart, `${title}: ${table.title}`) })
    return `<div class=pair>${drawn}<div>${tableHtml(table, idOf(suite, name, 'table', table.name))}</div></div>`
  })
  .join('\n')}
${plots.map((plot) => plotHtml(plot, { id: idOf(suite, name, 'plot', plot.name), title }, draw)).join('\n')}
${notesHtml(notes)}
<p class=source><code>${escaped(command(suite, part))}</code>; ${began(part)}, ${figure(part.took)} s in all; ${escaped(machineText(machine, servers))}; ${escaped(machine.system)}.
</section>`
}

function command(suite: string, { name, depth }: PartResults): string {
  return `npm run bench -- ${suite} --only ${name}${depth === 'quick' ? ' --quick' : ''}`
}

function began({ began: at, seconds }: PartResults): string {
  return `${at.slice(0, 16).replace('T', ' ')} UTC, ${figure(seconds, 1)} s a comparison`
}

/** A plot that a part made, with its numbers. */
function plotHtml(plot: Plot, { id, title }: { readonly id: string; readonly title: string }, draw: Draw): string {
  const drawn = draw(lineChartOf(plot), `${title}: ${plot.title}`)
  return figureHtml({ caption: plot.title, drawn }) + numbersHtml(plot, id)
}

function numbersHtml(plot: Plot, id: string): string {
  const numbers = plotNumbers(plot)
  if (numbers === undefined) return '<p class=source>This plot has too many numbers for a table. They are in the results as JSON.'
  const rows = numbers.rows.map(([first, ...cells]) => `<tr><th scope=row>${first?.text ?? ''}${cells.map(cellHtml).join('')}`)
  const table = wideTable({ id, caption: `${plot.title}: ${plot.y.title}`, heading: numbers.heading, body: `<tbody>${rows.join('\n')}` })
  return `<details><summary>Numbers of “${escaped(plot.title)}”</summary>${table}</details>`
}

function figureHtml({ caption, drawn }: { readonly caption?: string; readonly drawn: string }): string {
  return `<figure>${caption === undefined ? '' : `<figcaption>${escaped(caption)}</figcaption>`}${drawn}</figure>`
}
