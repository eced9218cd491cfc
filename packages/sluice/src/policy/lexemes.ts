/** Looks at the lexemes of a YAML text as they come, before anything is built of them. */
export interface Scan {
  readonly count: number
  /** Whether the text is certain to be refused for it: building what stands for such a lexeme costs more than reading it. */
  isMistake(lexeme: string): boolean
}

/** What the lexer says before the text of a plain or block scalar, which may look like anything. */
const SCALAR_FOLLOWS = '\u001f'
/** Anchors, aliases, tags and directives are refused wherever they stand. */
const REFUSED = /^[&*!%]/

export function createScan(): Scan {
  let count = 0
  let before = ''
  return {
    get count() {
      return count
    },
    isMistake(lexeme) {
      count += 1
      // Blanks, line ends and comments part nothing from nothing.
      if (/^(?:[ \t\r\n]|#)/.test(lexeme) && before !== SCALAR_FOLLOWS) return false
      const previous = before
      before = lexeme
      if (previous === SCALAR_FOLLOWS) return false
      if (lexeme === ',') return previous === ',' || previous === '[' || previous === '{'
      return lexeme === '---' ? previous !== '' : REFUSED.test(lexeme)
    },
  }
}
