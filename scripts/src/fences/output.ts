/**
 * Whether what was printed is what a document shows: line by line, blanks at the end of a line ignored. A line `...` stands for
 * any number of lines, `...` inside of a line for any text.
 */
export function looksLike(expected: string, printed: string): boolean {
  return matches(linesOf(expected), linesOf(printed))
}

function matches(expected: readonly string[], printed: readonly string[]): boolean {
  // The classic walk with one point to go back to: the last line of dots, which may take one line more.
  let at = 0
  let dots = -1
  let taken = 0
  for (let line = 0; line < printed.length;) {
    if (at < expected.length && expected[at]?.trim() === '...') {
      dots = at
      taken = line
      at += 1
    } else if (at < expected.length && lineMatches(expected[at] as string, printed[line] as string)) {
      at += 1
      line += 1
    } else if (dots !== -1) {
      taken += 1
      line = taken
      at = dots + 1
    } else return false
  }
  return expected.slice(at).every((line) => line.trim() === '...')
}

function lineMatches(expected: string, printed: string): boolean {
  const pattern = expected.split('...').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${pattern.join('.*')}$`).test(printed)
}

/** Colours and trailing blanks do not count, nor do empty lines at either end. */
function linesOf(text: string): string[] {
  // oxlint-disable-next-line no-control-regex -- colours begin with an escape
  const plain = text.replaceAll(/\u001B\[[\d;]*m/g, '')
  const lines = plain.split(/\r?\n/).map((line) => line.trimEnd())
  while (lines.at(-1) === '') lines.pop()
  while (lines[0] === '') lines.shift()
  return lines
}
