/** A lexeme of a Lua or SQL program. Comments and blanks are not tokens. */
export interface Token {
  readonly kind: 'name' | 'number' | 'text' | 'sign'
  readonly text: string
  readonly start: number
  readonly end: number
}

export type Language = 'lua' | 'sql'

type Kinds = readonly (readonly [kind: Token['kind'] | 'blank', pattern: RegExp])[]

/** The patterns of each language. The first one that matches determines the kind of a token. */
const KINDS: Readonly<Record<Language, Kinds>> = {
  lua: [
    ['blank', /\s+|--\[\[[^]*?\]\]|--[^\n]*/y],
    ['text', /'(?:\\[^]|[^'\\])*'|"(?:\\[^]|[^"\\])*"|\[\[[^]*?\]\]/y],
    ['number', /0x[\da-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?/iy],
    ['name', /[a-z_]\w*/iy],
    ['sign', /\.{2,3}|[=~<>]=|[^]/y],
  ],
  sql: [
    ['blank', /\s+|--[^\n]*/y],
    ['text', /'(?:''|[^'])*'/y],
    ['number', /\d+(?:\.(?!\.)\d*)?/y],
    ['name', /[a-z_]\w*|"[^"]*"/iy],
    ['sign', /\$\w*\$|\$\d+|\.\.|:=|::|<>|!=|<=|>=|<<|>>|\|\||[^]/y],
  ],
}

/** The lexemes of a program, in order. */
export function tokensOf(source: string, language: Language): Token[] {
  const found: Token[] = []
  for (let at = 0; at < source.length;) {
    for (const [kind, pattern] of KINDS[language]) {
      pattern.lastIndex = at
      const text = pattern.exec(source)?.[0]
      if (text === undefined) continue
      if (kind !== 'blank') found.push({ kind, text, start: at, end: at + text.length })
      at += text.length
      break
    }
  }
  return found
}

/** Whether an expression may end with this token, so that an operator after it has two operands. */
export function isOperand(token: Token | undefined, keywords: ReadonlySet<string>): boolean {
  if (token === undefined) return false
  if (token.kind === 'name') return !keywords.has(token.text.toLowerCase())
  return token.kind !== 'sign' || [')', ']', '}', '...'].includes(token.text)
}

/** A changed whole number: 0 instead of 1, otherwise one more. */
export function otherNumber(text: string): string {
  const value = Number(text)
  return String(value === 1 ? 0 : value + 1)
}
