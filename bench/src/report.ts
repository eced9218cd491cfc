/** Rows under a heading, columns aligned: the first to the left, figures to the right. */
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

/** The same as a Markdown table. */
export function markdownTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]): string => `| ${heading.map((_, column) => row[column] ?? '').join(' | ')} |`
  return [line(heading), `|${heading.map(() => '---|').join('')}`, ...rows.map(line)].join('\n')
}

/** A number with so many decimals, thousands apart: `54,528`. */
export function figure(value: number, decimals: number = 0): string {
  // No -0.00: a rounded nothing has no sign.
  const rounded = Number(value.toFixed(decimals)) + 0
  return rounded.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
}

export function percent(value: number): string {
  return `${figure(value, 2)} %`
}
