/** Examines the lexemes of a YAML text one by one, before nodes are built from them. */
export interface Scan {
  readonly count: number
  /** Whether the text is certain to be refused for this lexeme: building its node would cost more than reading it. */
  isMistake(lexeme: string): boolean
}

/** The lexer's marker before the text of a plain or block scalar, which may contain anything. */
const SCALAR_FOLLOWS = '\u001f'
/** Anchors, aliases, tags and directives are refused anywhere. */
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
      // Blanks, line ends and comments do not change which lexeme precedes another.
      if (/^(?:[ \t\r\n]|#)/.test(lexeme) && before !== SCALAR_FOLLOWS) return false
      const previous = before
      before = lexeme
      if (previous === SCALAR_FOLLOWS) return false
      if (lexeme === ',') return previous === ',' || previous === '[' || previous === '{'
      return lexeme === '---' ? previous !== '' : REFUSED.test(lexeme)
    },
  }
}
