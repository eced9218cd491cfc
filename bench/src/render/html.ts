import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { SuiteResults } from '../result/suite-result.ts'
import type { Chart } from './charts.ts'
import { escaped } from './html/escape.ts'
import { contentsHtml, overviewHtml } from './html/overview.ts'
import { type Draw, suiteHtml } from './html/sections.ts'

/** What `npm run build` made of `src/report-page`, as found from this file in `dist/render` and in `src/render`. */
const BUILT = join(import.meta.dirname, '..', '..', 'dist', 'report-page', 'built')

const HOW_TO_READ = [
  'A table has the median of several measurements, with the quartiles below it. Its plot shows the same as a dot with a bar from quartile to quartile, best first.',
  'Over-grant is how much passed beyond the limit. A row that let too much pass, or gave wrong answers, is WRONG, and its speed counts for nothing.',
  'A row says whether it is ours, the baseline of the ratios, a floor that no limiter could pass, quoted from a document, or computed from measured figures. The others are other libraries and other ways.',
  'Disturbed means that other programs, or the host of a virtual machine, used the processors meanwhile.',
  '“Times as good” compares the default of Sluice, or the first row of ours where it is not ranked, with the best other way that answered correctly. Its range sets our worse quartile against their better one, and the other way round.',
]

/** The report of all suites as one file that needs no network. Tables, plots and their script are packed in it. */
export function reportHtml(suites: readonly SuiteResults[]): string {
  const charts: Chart[] = []
  const draw: Draw = (chart, name) => {
    charts.push(chart)
    return `<div class=plot data-chart=${charts.length - 1} data-name="${escaped(name)}"></div>`
  }
  const sections = suites.map((suite) => suiteHtml(suite, draw)).join('\n')
  const [style, load, page, licenses] = ['page.css', 'load.js', 'page.js', 'licenses.txt'].map((name) => readFileSync(join(BUILT, name)))
  const hash = createHash('sha256')
    .update(load as Buffer)
    .digest('base64')
  // Plots have styles of their own. Only the script of this page may run, and the one that it unpacks.
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${hash}' blob:; base-uri 'none'; form-action 'none'`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sluice: benchmark report</title>
<style>${String(style)}</style>
</head>
<body>
<header>
<h1>Sluice: benchmark report</h1>
<p>${escaped(spanOf(suites))}</p>
<div id="themes" role="group" aria-label="Colours" hidden></div>
</header>
<main>
<noscript><p>Scripts are off, so this page has no tables and plots. The file report.md next to it has the same tables.</p></noscript>
<section>
<h2 id="overview">Overview</h2>
${overviewHtml(suites)}
<h3>How to read this</h3>
<ul class=notes>${HOW_TO_READ.map((line) => `<li>${line}`).join('')}</ul>
<div id="kinds" hidden></div>
</section>
${contentsHtml(suites)}
${packed('sections', sections)}
</main>
<footer><details><summary>Licenses of the software in this page</summary><pre>${escaped(String(licenses))}</pre></details></footer>
${packed('charts', JSON.stringify(charts))}
${packed('page', page as Buffer)}
<script>${String(load)}</script>
</body>
</html>
`
}

/** Data that the page unpacks: gzip as base64, a third of the size. */
function packed(id: string, data: string | Buffer): string {
  return `<script type="text/plain" id="${id}">${gzipSync(data, { level: 9 }).toString('base64')}</script>`
}

/** A sentence that says when, and on which machines, the results were measured. */
function spanOf(suites: readonly SuiteResults[]): string {
  const parts = suites.flatMap((suite) => suite.parts)
  const days = parts.map(({ began }) => began.slice(0, 10)).sort()
  const machines = [...new Set(parts.map(({ machine }) => `${machine.cores} cores (${machine.cpu})`))]
  if (parts.length === 0) return 'Nothing was measured.'
  const when = days[0] === days.at(-1) ? `on ${days[0]}` : `from ${days[0]} to ${days.at(-1)}`
  return `Measured ${when} on ${machines.join('; ')}.`
}
