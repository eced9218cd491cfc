import type { SuiteResults } from '../../result/suite-result.ts'
import { OVERVIEW_HEADING, overviewCells } from '../overview.ts'
import { escaped, idOf } from './escape.ts'
import { wideTable } from './tables.ts'

/** A line for each suite. */
export function overviewHtml(suites: readonly SuiteResults[]): string {
  const rows = suites.map((results) => {
    const name = `<a href="#${idOf(results.suite)}">${escaped(results.suite)}</a>`
    const cells = overviewCells(results).map((text) => `<td class=text>${escaped(text)}`)
    return `<tr><th scope=row>${name}${cells.join('')}`
  })
  const body = `<tbody>${rows.join('\n')}`
  return wideTable({ id: 'overview-table', caption: 'What each suite found', heading: OVERVIEW_HEADING, body })
}

export function contentsHtml(suites: readonly SuiteResults[]): string {
  const items = suites.map(({ suite, title, parts }) => {
    const inner = parts.map((part) => `<li><a href="#${idOf(suite, part.name)}">${escaped(part.title)}</a>`)
    return `<li><a href="#${idOf(suite)}">${escaped(suite)}: ${escaped(title)}</a><ol>${inner.join('')}</ol>`
  })
  return `<nav aria-label="Contents"><details open><summary>Contents</summary><ol>${items.join('\n')}</ol></details></nav>`
}
