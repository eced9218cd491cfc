import type { Mutation } from './mutations.ts'
import { isOperand, otherNumber, type Token, tokensOf } from './program-tokens.ts'

/** The replacements of an operator between two operands. */
const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '^': ['*'],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '==': ['~='],
  '~=': ['=='],
  and: ['or'],
  or: ['and'],
}

const WORDS: Readonly<Record<string, string>> = { true: 'false', false: 'true', min: 'max', max: 'min', floor: 'ceil', ceil: 'floor' }

/** Keywords after which an expression or a statement begins. */
const KEYWORDS: ReadonlySet<string> = new Set(
  'and break do else elseif for function if in local not or repeat return then until while'.split(' '),
)
const OPENS_BLOCK: ReadonlySet<string> = new Set(['function', 'if', 'for', 'while', 'repeat'])
const BEFORE_STATEMENT: ReadonlySet<string> = new Set(['then', 'do', 'else', 'repeat'])
const ENDS_BLOCK: ReadonlySet<string> = new Set(['end', 'else', 'elseif', 'until'])
/** Statements that begin with these words are not removed; their parts are changed instead. */
const STAYS: ReadonlySet<string> = new Set(['local', 'if', 'for', 'while', 'repeat', 'function', 'do'])

/** Every mutation of a Lua program, in the order of the source. Some may not be valid programs, which the server finds out. */
export function luaMutations(source: string): Mutation[] {
  const tokens = tokensOf(source, 'lua')
  const found = [...tokens.flatMap((_, index) => ofToken(tokens, index)), ...ofStatements(tokens, source)]
  return found.sort((a, b) => a.start - b.start || a.end - b.end)
}

function ofToken(tokens: readonly Token[], index: number): Mutation[] {
  const { kind, text, start, end } = tokens[index] as Token
  const before = tokens[index - 1]
  const replaced = (to: string): Mutation => ({ start, end, to })
  if (kind === 'number') return [replaced(otherNumber(text))]
  if (kind === 'text') return []
  if (text === 'not') return [{ start, end: tokens[index + 1]?.start ?? end, to: '' }]
  if (text === 'if' || text === 'elseif') return condition(tokens, index, 'then', ['true', 'false'])
  if (text === 'while') return condition(tokens, index, 'do', ['false'])
  if (text === '-' && !isOperand(before, KEYWORDS)) return [replaced('')]
  const others = OPERATORS[text]
  if (others !== undefined) return others.map(replaced)
  const word = WORDS[text]
  if (kind !== 'name' || word === undefined) return []
  // min and max are only changed as functions of math. A field or a variable may have the same name.
  const ofMath = before?.text === '.' && tokens[index - 2]?.text === 'math'
  return ofMath || text === 'true' || text === 'false' ? [replaced(word)] : []
}

/** Replaces a condition: the tokens between a keyword and the keyword that ends the condition. */
function condition(tokens: readonly Token[], index: number, closing: string, values: readonly string[]): Mutation[] {
  let depth = 0
  for (let at = index + 1; at < tokens.length; at += 1) {
    const { text } = tokens[at] as Token
    if (depth === 0 && text === closing) {
      const [first, last] = [tokens[index + 1] as Token, tokens[at - 1] as Token]
      return values.map((to) => ({ start: first.start, end: last.end, to }))
    }
    if (OPENS_BLOCK.has(text)) depth += 1
    if (text === 'end') depth -= 1
  }
  return []
}

interface Level {
  readonly bracket: boolean
  /** The index of the first token of the statement that has not ended yet. */
  first?: number | undefined
  /** Set within the head of a loop. The `do` that ends the head opens no further block. */
  head?: boolean
}

/** Removes assignments, calls and the values of returns. A statement begins a line, or follows the word that begins its block. */
function ofStatements(tokens: readonly Token[], source: string): Mutation[] {
  const found: Mutation[] = []
  const levels: Level[] = [{ bracket: false }]
  const top = (): Level => levels[levels.length - 1] as Level
  const close = (level: Level, next: number): void => {
    if (level.first !== undefined) found.push(...removed(tokens.slice(level.first, next)))
    level.first = undefined
  }
  tokens.forEach((token, index) => {
    const { kind, text, start } = token
    const before = tokens[index - 1]
    if (kind === 'name' && ENDS_BLOCK.has(text)) {
      close(top(), index)
      if (text === 'end' || text === 'until') levels.pop()
    }
    if (kind === 'sign' && ')}]'.includes(text)) levels.pop()
    const level = top()
    const onNewLine = before === undefined || source.slice(before.end, start).includes('\n')
    const begins = BEFORE_STATEMENT.has(before?.text ?? '') || text === 'return' || (onNewLine && isComplete(before))
    if (!level.bracket && kind === 'name' && begins && !ENDS_BLOCK.has(text) && !['and', 'or'].includes(text)) {
      close(level, index)
      level.first = index
    }
    if (kind === 'name' && OPENS_BLOCK.has(text)) levels.push({ bracket: false, head: text === 'for' || text === 'while' })
    if (kind === 'name' && text === 'do') {
      if (top().head === true) top().head = false
      else levels.push({ bracket: false })
    }
    if (kind === 'sign' && '({['.includes(text)) levels.push({ bracket: true })
  })
  close(top(), tokens.length)
  return found
}

/** Whether a statement may end with this token: an operand, `end` or `break`. */
function isComplete(token: Token | undefined): boolean {
  return token === undefined || token.text === 'break' || token.text === 'end' || isOperand(token, KEYWORDS)
}

function removed(statement: readonly Token[]): Mutation[] {
  const [first, second] = statement
  const last = statement[statement.length - 1]
  if (first === undefined || last === undefined || STAYS.has(first.text)) return []
  if (first.text !== 'return') return [{ start: first.start, end: last.end, to: '' }]
  return second === undefined || second.text === 'nil' ? [] : [{ start: first.start, end: last.end, to: 'return' }]
}
