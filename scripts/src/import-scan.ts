import { type Token, tokensOf } from './tokens.ts'

/** One import or re-export as it is written. */
export interface Import {
  readonly specifier: string
  readonly line: number
  /** Erased by the compiler: `import type` or `export type`. A mere list of types in braces still loads the module. */
  readonly typeOnly: boolean
}

/** Every static import, re-export, dynamic import and require of a TypeScript text that names its target in plain text. */
export function importsOf(source: string): Import[] {
  const tokens = tokensOf(source)
  const found: Import[] = []
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'word' || tokens[index - 1]?.text === '.') continue
    const target = token.text === 'require' ? called(tokens, index) : targetOf(tokens, index)
    if (target === undefined) continue
    found.push({ specifier: target.text, line: token.line, typeOnly: target.typeOnly })
  }
  return found
}

interface Target {
  readonly text: string
  readonly typeOnly: boolean
}

function targetOf(tokens: readonly Token[], index: number): Target | undefined {
  const keyword = tokens[index]?.text
  if (keyword !== 'import' && keyword !== 'export') return undefined
  const next = tokens[index + 1]
  if (keyword === 'import' && next?.kind === 'string') return { text: next.text, typeOnly: false }
  return (keyword === 'import' ? called(tokens, index) : undefined) ?? clause(tokens, index)
}

/** `import('x')`; in a type position it is erased, which `typeof` or a member of it in front of no call cannot tell: counted as loaded. */
function called(tokens: readonly Token[], index: number): Target | undefined {
  const text = tokens[index + 2]
  return tokens[index + 1]?.text === '(' && text?.kind === 'string' ? { text: text.text, typeOnly: false } : undefined
}

/** `import a, { b as c } from 'x'`, `export * from 'x'`: names and braces only between the keyword and `from`. */
function clause(tokens: readonly Token[], index: number): Target | undefined {
  for (let at = index + 1; at < tokens.length; at += 1) {
    const { kind, text } = tokens[at] as Token
    const target = tokens[at + 1]
    if (kind === 'word' && text === 'from' && target?.kind === 'string') {
      const typeOnly = tokens[index + 1]?.text === 'type' && tokens[index + 2]?.text !== 'from'
      return { text: target.text, typeOnly }
    }
    if (kind === 'string' || (kind === 'mark' && !'{},*'.includes(text))) return undefined
  }
  return undefined
}
