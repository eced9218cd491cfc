/** A text table of rows under a heading. The first column is aligned to the left, figures to the right. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heading, ...rows]
  const widths = heading.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] as number) : cell.padStart(widths[column] as number)))
      .join('  ')
      .trimEnd()
  return [line(heading), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n')
}

/** A Markdown table of rows under a heading. */
export function markdownTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]): string =>
    `| ${heading.map((_, column) => (row[column] ?? '').replaceAll('|', '\\|')).join(' | ')} |`
  return [line(heading), `|${heading.map(() => '---|').join('')}`, ...rows.map(line)].join('\n')
}

/** Sentences below a Markdown table, each a point of a list. */
export function markdownNotes(notes: readonly string[]): string {
  return notes.map((note) => `- ${note}`).join('\n')
}

/** Making a format takes longer than using it a hundred times, and a report has thousands of numbers. */
const FORMATS = new Map<number, Intl.NumberFormat>()

/** A number with this many decimals and with commas between thousands: `54,528`. */
export function figure(value: number, decimals: number = 0): string {
  // Adding 0 turns -0 into 0, so that -0.00 is never shown.
  const rounded = Number(value.toFixed(decimals)) + 0
  const format =
    FORMATS.get(decimals) ?? new Intl.NumberFormat('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
  FORMATS.set(decimals, format)
  return format.format(rounded)
}

export function percent(value: number): string {
  return `${figure(value, 2)} %`
}
