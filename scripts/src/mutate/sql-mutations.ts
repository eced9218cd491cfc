import type { Mutation } from './mutations.ts'
import { isOperand, otherNumber, type Token, tokensOf } from './program-tokens.ts'

/** The replacements of an operator between two operands. */
const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '=': ['<>'],
  '<>': ['='],
  '&': ['|'],
  '|': ['&'],
}

const WORDS: Readonly<Record<string, string>> = {
  and: 'or',
  or: 'and',
  true: 'false',
  false: 'true',
  greatest: 'least',
  least: 'greatest',
  min: 'max',
  max: 'min',
  asc: 'desc',
  desc: 'asc',
}

/** Keywords after which an expression begins. */
const KEYWORDS: ReadonlySet<string> = new Set(
  'and by case distinct else elsif exit foreach from if in into is loop not or perform return returning select set then using values when where while'.split(
    ' ',
  ),
)
/** For a word that begins a condition, the words that end it. A condition of `where` extends to the next clause of its query. */
const CONDITIONS: Readonly<Record<string, ReadonlySet<string>>> = {
  if: new Set(['then']),
  elsif: new Set(['then']),
  while: new Set(['loop']),
  when: new Set(['then', ';']),
  where: new Set([';', ')', 'returning', 'order', 'limit', 'for', 'on', 'group', 'union', 'loop', 'for', '$$']),
}
const BEFORE_STATEMENT: ReadonlySet<string> = new Set([';', 'then', 'else', 'loop', 'begin'])
const STATEMENTS: ReadonlySet<string> = new Set('perform update insert delete select with exit continue return raise execute'.split(' '))
const BODY = '$$'

/**
 * Every mutation of an SQL file, in the order of the source. Only the bodies of its functions are changed, or the whole file if it is a
 * part of a body. Some mutations may not be valid, which the server finds out.
 */
export function sqlMutations(source: string): Mutation[] {
  const tokens = tokensOf(source, 'sql')
  const found = bodiesOf(tokens).flatMap((body) => [...body.flatMap((_, index) => ofToken(body, index)), ...ofStatements(body)])
  return found.sort((a, b) => a.start - b.start || a.end - b.end)
}

/** The tokens of each function body, between its marks; all tokens if there are no marks. */
function bodiesOf(tokens: readonly Token[]): (readonly Token[])[] {
  const marks = tokens.flatMap(({ text }, index) => (text === BODY ? [index] : []))
  if (marks.length === 0) return [tokens]
  return marks.flatMap((mark, index) => (index % 2 === 0 ? [tokens.slice(mark + 1, marks[index + 1])] : []))
}

function ofToken(tokens: readonly Token[], index: number): Mutation[] {
  const { kind, text, start, end } = tokens[index] as Token
  const before = tokens[index - 1]
  const after = tokens[index + 1]
  const word = text.toLowerCase()
  const replaced = (to: string): Mutation => ({ start, end, to })
  if (kind === 'number') return [replaced(otherNumber(text))]
  if (kind === 'text') return []
  if (word === 'not') return [{ start, end: after?.start ?? end, to: '' }]
  if (before?.text.toLowerCase() === 'is' && ['null', 'distinct'].includes(word)) return [replaced(`not ${text}`)]
  if (word === '-' && !isOperand(before, KEYWORDS)) return [replaced('')]
  if (word === '*' && !(isOperand(before, KEYWORDS) && before?.text !== '.')) return []
  // `end if` begins no condition.
  const ends = CONDITIONS[word]
  if (ends !== undefined && before?.text.toLowerCase() !== 'end') return condition(tokens, index, ends, word)
  const others = OPERATORS[word] ?? (WORDS[word] === undefined ? [] : [WORDS[word]])
  return others.map(replaced)
}

/** Replaces a condition: the tokens between a word and the word that ends the condition. */
function condition(tokens: readonly Token[], index: number, ends: ReadonlySet<string>, word: string): Mutation[] {
  let depth = 0
  let at = index + 1
  for (; at < tokens.length; at += 1) {
    const text = (tokens[at] as Token).text.toLowerCase()
    if (depth === 0 && ends.has(text)) break
    if (text === '(' || text === '[' || text === 'case') depth += 1
    if (text === ')' || text === ']' || (text === 'end' && depth > 0)) depth -= 1
  }
  const [first, last] = [tokens[index + 1], tokens[at - 1]]
  if (first === undefined || last === undefined || last.start < first.start) return []
  return (word === 'while' ? ['false'] : ['true', 'false']).map((to) => ({ start: first.start, end: last.end, to }))
}

/** Removes assignments, statements on tables, and the values of returns. The declarations of a function stay. */
function ofStatements(tokens: readonly Token[]): Mutation[] {
  const begin = tokens[0]?.text.toLowerCase() === 'declare' ? tokens.findIndex(({ text }) => text.toLowerCase() === 'begin') : 0
  return tokens.flatMap((first, index) => {
    const word = first.text.toLowerCase()
    const opened = index === 0 || BEFORE_STATEMENT.has(tokens[index - 1]?.text.toLowerCase() ?? '')
    if (index < begin || !opened || first.kind !== 'name') return []
    const last = tokens.findIndex(({ text }, at) => at > index && text === ';')
    if (last === -1 || !(STATEMENTS.has(word) || assigns(tokens, index))) return []
    const { end } = tokens[last - 1] as Token
    if (word !== 'return') return [{ start: first.start, end, to: 'null' }]
    return last === index + 1 || tokens[index + 1]?.text.toLowerCase() === 'null' ? [] : [{ start: first.start, end, to: 'return null' }]
  })
}

/** Whether an assignment begins here: a name, possibly with indexes in brackets, and `:=`. */
function assigns(tokens: readonly Token[], index: number): boolean {
  let at = index + 1
  let depth = 0
  for (; at < tokens.length; at += 1) {
    const { text } = tokens[at] as Token
    if (text === '[') depth += 1
    else if (text === ']') depth -= 1
    else if (depth === 0 && text !== '.' && tokens[at - 1]?.text !== '.') break
  }
  return tokens[at]?.text === ':='
}
