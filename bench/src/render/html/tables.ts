import { markOf, type Reading } from '../../result/reading.ts'
import { isWrong, type Row, type Table } from '../../result/table.ts'
import { byLoad } from '../by-load.ts'
import { cellParts, headOf, notAudited, overGrantText, type CellParts, unitText } from '../cells.ts'
import { readingParts } from '../readings.ts'
import { escaped } from './escape.ts'

/** A table that may be wider than the page: it scrolls, with its first column and the over-grant in view. */
export interface WideTable {
  readonly id: string
  readonly caption: string
  readonly heading: readonly string[]
  /** Rows of HTML. */
  readonly body: string
  /** The last column is the over-grant. */
  readonly audited?: boolean
}

// Closing tags that HTML does not require are left out: a full run has thousands of cells.
export function wideTable({ id, caption, heading, body, audited = false }: WideTable): string {
  const [first = '', ...others] = heading
  const heads = others.map((text, index) => `<th scope=col${audited && index === others.length - 1 ? ' class=og' : ''}>${escaped(text)}`)
  return `<div class=wide role=group tabindex=0 aria-labelledby="${id}"><table><caption id="${id}"><span>${escaped(caption)}</span></caption>
<thead><tr><th scope=col>${escaped(first)}${heads.join('')}</thead>
${body}</table></div>`
}

/** A table of measurements, with its rows in groups of the same load. */
export function tableHtml(table: Table, id: string): string {
  const { columns, rows, first = 'way', title } = table
  const groups = byLoad(rows)
  const single = groups.size === rows.length
  const rowHtml = (row: Row): string => {
    const cells = columns.map((column) => cellHtml(cellParts(row.cells[column.key], column)))
    const load = single && row.load !== undefined ? `<i>${escaped(row.load)}</i>` : ''
    const kind = row.kind === 'peer' ? '' : ` class=${row.kind}`
    return `<tr${kind}><th scope=row>${nameHtml(row)} ${tagsOf(row)}${load}${doubtOf(row)}${cells.join('')}${overGrantHtml(row)}`
  }
  const width = columns.length + 2
  const body = single
    ? `<tbody>${rows.map(rowHtml).join('\n')}`
    : [...groups].map(([load, members]) => `<tbody>${loadHtml(load, width)}${members.map(rowHtml).join('\n')}`).join('\n')
  const heading = [first, ...columns.map((column) => headOf(column, unitText)), 'over-grant']
  const notes = [...(table.notes ?? []), ...notAudited(rows)]
  return wideTable({ id, caption: title, heading, body, audited: true }) + notesHtml(notes)
}

export function readingsHtml(readings: readonly Reading[], id: string): string {
  const { heading, rows, notes } = readingParts(readings)
  // The over-grant is shown even if it is zero.
  const shown = heading.map(
    (_, column) => column === heading.length - 1 || column === 0 || rows.some(({ cells }) => cells[column - 1] !== ''),
  )
  const body = rows.map(({ reading, mark, cells }) => {
    const { name, profile } = reading
    const tag = mark === '' ? '' : `<b class="tag ${markOf(reading)}">${mark}</b>`
    const load = profile === undefined ? '' : `<i>${escaped(profile)}</i>`
    const figures = cells.map((cell, index) => {
      return shown[index + 1] === true ? `<td${index === cells.length - 1 ? ' class=og' : ''}>${escaped(symbols(cell))}` : ''
    })
    return `<tr><th scope=row>${escaped(name)} ${tag}${load}${figures.join('')}`
  })
  const table = {
    id,
    caption: 'Figures with their goals',
    heading: heading.filter((_, column) => shown[column]),
    body: `<tbody>${body.join('\n')}`,
    audited: true,
  }
  return wideTable(table) + notesHtml(notes)
}

/** Texts of readings have the units of the results, `us` and `x`. */
function symbols(text: string): string {
  return text.replaceAll(/(?<=\d )(?:us|x)\b/g, (unit) => unitText(unit as 'us' | 'x'))
}

export function notesHtml(notes: readonly string[]): string {
  return notes.length === 0 ? '' : `\n<ul class=notes>${notes.map((note) => `<li>${escaped(note)}`).join('')}</ul>`
}

function loadHtml(load: string | undefined, width: number): string {
  return load === undefined ? '' : `<tr class=load><th scope=rowgroup colspan=${width}><span>${escaped(load)}</span>`
}

/** Names that begin with spaces continue the row before. Long ones may be broken after a slash. */
function nameHtml({ name }: Row): string {
  const text = escaped(name.trim()).replaceAll('/', '/<wbr>')
  return name.startsWith(' ') ? `<span class=under>${text}</span>` : text
}

/** What kind of row it is, and whether its figures count for anything, in words. */
function tagsOf(row: Row): string {
  const wrong = 'overGrant' in row && (row.wrongAnswers ?? 0) > 0 ? `: ${row.wrongAnswers} wrong answers` : ''
  return [
    ...(row.kind === 'peer' ? [] : [`<b class=tag>${row.kind}</b>`]),
    ...(isWrong(row) ? [`<b class="tag wrong">WRONG${wrong}</b>`] : []),
  ].join(' ')
}

function doubtOf({ disturbed }: Row): string {
  return disturbed === undefined ? '' : `<i>disturbed: ${escaped(disturbed)}</i>`
}

export function cellHtml({ text, quartiles }: CellParts): string {
  return `<td>${escaped(text)}${quartiles === undefined ? '' : `<small>${quartiles}</small>`}`
}

function overGrantHtml(row: Row): string {
  return `<td class=og>${overGrantText(row)}`
}
