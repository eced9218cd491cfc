/**
 * Whether a printed text is the one that a document shows. Lines are compared without blanks at their end. A line `...` stands for any
 * number of lines, and `...` within a line for any text.
 */
export function looksLike(expected: string, printed: string): boolean {
  return matches(linesOf(expected), linesOf(printed))
}

function matches(expected: readonly string[], printed: readonly string[]): boolean {
  // If a line does not match, the search goes back to the last `...` line and lets that line stand for one line more.
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

/** The lines of a text, without colours, trailing blanks, and empty lines at its beginning and end. */
function linesOf(text: string): string[] {
  // oxlint-disable-next-line no-control-regex -- colours begin with an escape
  const plain = text.replaceAll(/\u001B\[[\d;]*m/g, '')
  const lines = plain.split(/\r?\n/).map((line) => line.trimEnd())
  while (lines.at(-1) === '') lines.pop()
  while (lines[0] === '') lines.shift()
  return lines
}
