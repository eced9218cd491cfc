/** A word, a string without its quotes, or one other character, with its line. */
export interface Token {
  readonly kind: 'word' | 'string' | 'mark'
  readonly text: string
  readonly line: number
}

/** After these words a slash begins a regular expression, after others it divides. */
const BEFORE_PATTERN: ReadonlySet<string> = new Set('return typeof case in of void delete instanceof await yield throw do else'.split(' '))

const WORD = /[\w$]+/y
const STRING = /'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*"/y
const COMMENT = /\/\/[^\n]*|\/\*[^]*?\*\//y
const PATTERN = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y
const TEMPLATE = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y

/**
 * The tokens of a TypeScript text: comments, patterns and the fixed parts of templates are dropped, so that what is found in
 * the rest is code. It knows no grammar beyond that.
 */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  const depths: number[] = []
  let at = 0
  let line = 1
  let depth = 0
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const text = pattern.exec(source)?.[0]
    if (text === undefined) return undefined
    at += text.length
    line += text.split('\n').length - 1
    return text
  }
  /** Reads on inside a template, up to its end or to the next expression in it. */
  const template = (): void => {
    take(TEMPLATE)
    if (source[at] === '$') depths.push(depth)
    at += source[at] === '$' ? 2 : 1
  }
  const add = (kind: Token['kind'], text: string, from: number): void => void tokens.push({ kind, text, line: from })
  while (at < source.length) {
    const from = line
    const char = source[at] as string
    if (take(COMMENT) !== undefined) continue
    if (char === '/' && beginsPattern(tokens.at(-1)) && take(PATTERN) !== undefined) {
      add('mark', '/', from)
      continue
    }
    const word = take(WORD)
    if (word !== undefined) {
      add('word', word, from)
      continue
    }
    const text = take(STRING)
    if (text !== undefined) {
      add('string', text.slice(1, -1), from)
      continue
    }
    at += 1
    if (char === '\n') line += 1
    if (char === '`') {
      add('mark', '`', from)
      template()
    } else if (char === '}' && depths.at(-1) === depth) {
      depths.pop()
      template()
    } else if (char.trim() !== '') {
      if (char === '{') depth += 1
      if (char === '}') depth -= 1
      add('mark', char, from)
    }
  }
  return tokens
}

function beginsPattern(before: Token | undefined): boolean {
  if (before === undefined) return true
  if (before.kind === 'word') return BEFORE_PATTERN.has(before.text)
  return before.kind === 'mark' && !')]}`/'.includes(before.text)
}
