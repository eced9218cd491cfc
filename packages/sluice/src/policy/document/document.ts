import * as yaml from 'yaml'
import type { Issues, Position } from './issues.ts'
import { type Field, type PolicyNode, quoted, type ScalarNode } from './value.ts'

const MAX_DEPTH = 32
/** The parser's stack has one entry for each level, one for the document, and one for the innermost scalar. */
const MAX_STACK = MAX_DEPTH + 2
const MAX_MISTAKES = 200
const MAX_LEXEMES = 150_000

/** Refuses the dangerous or surprising parts of YAML, such as anchors, tags and duplicate keys. */
export function readDocument(text: string, lines: yaml.LineCounter, issues: Issues): PolicyNode | undefined {
  const document = compose(text, lines, issues)
  if (document === undefined || issues.failed) return undefined
  const duplicates: Duplicate[] = []
  const contents = document.contents as yaml.ParsedNode | null
  const root = contents === null ? undefined : converter(issues, duplicates)(contents, 0)
  if (root !== undefined) refuseDuplicates(root, duplicates, issues, positionIn(lines))
  return issues.failed ? undefined : root
}

export function positionIn(lines: yaml.LineCounter): Position {
  return (at) => {
    const { line, col } = lines.linePos(at)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
}

function compose(text: string, lines: yaml.LineCounter, issues: Issues): yaml.Document | undefined {
  const parser = new yaml.Parser(lines.addNewLine)
  const tokens = []
  const isMistake = mistakeFinder()
  const refused = (why: string): undefined => issues.add(parser.offset, '', why)
  let [lexemes, mistakes] = [0, 0]
  for (const lexeme of new yaml.Lexer().lex(text)) {
    lexemes += 1
    if (isMistake(lexeme)) mistakes += 1
    for (const token of parser.next(lexeme)) {
      tokens.push(token)
      if (token.type === 'error') mistakes += 1
    }
    // Reporting a mistake takes longer than reading a word.
    if (mistakes > MAX_MISTAKES) break
    if (parser.stack.length > MAX_STACK) return refused(`nested deeper than ${MAX_DEPTH} levels`)
    if (lexemes > MAX_LEXEMES) return refused(`more than ${MAX_LEXEMES} words and signs`)
  }
  tokens.push(...parser.end())
  for (const token of tokens) if (token.type === 'directive') issues.add(token.offset, '', 'a directive is refused')
  // `converter` finds duplicate keys instead, because the composer would compare each key with all keys before it.
  const composer = new yaml.Composer({
    prettyErrors: false,
    uniqueKeys: false,
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    logLevel: 'silent',
    lineCounter: lines,
  })
  const [document, second] = [...composer.compose(tokens)]
  for (const { pos, message } of document?.errors ?? []) issues.add(pos[0], '', message)
  if (second !== undefined) issues.add(second.range[0], '', 'a second document is refused')
  return document
}

interface Duplicate {
  readonly map: yaml.ParsedNode
  readonly name: string
  readonly at: number
  readonly first: number
}

function converter(issues: Issues, duplicates: Duplicate[]): (node: yaml.ParsedNode, at: number) => PolicyNode {
  const convert = (node: yaml.ParsedNode | null, keyAt: number): PolicyNode => {
    const at = node?.range[0] ?? keyAt
    if (node !== null) refuseMarks(node, at, issues)
    if (yaml.isSeq(node)) return { kind: 'list', at, items: node.items.map((item) => convert(item, at)) }
    if (yaml.isMap(node)) return { kind: 'map', at, fields: fieldsOf(node) }
    return scalar(node, at)
  }
  const fieldsOf = (map: yaml.YAMLMap.Parsed): Map<string, Field> => {
    const fields = new Map<string, Field>()
    for (const { key, value } of map.items) {
      const at = key.range[0]
      refuseMarks(key, at, issues)
      const name = yaml.isScalar(key) ? (key.source ?? '') : undefined
      const field = { at, value: convert(value, at) }
      if (name === undefined) issues.add(at, '', 'a name must be plain text')
      else if (name === '__proto__' || name === '<<') issues.add(at, '', `${name} is refused as a name`)
      else if (fields.has(name)) duplicates.push({ map, name, at, first: (fields.get(name) as Field).at })
      else fields.set(name, field)
    }
    return fields
  }
  return convert
}

function refuseMarks(node: yaml.ParsedNode, at: number, issues: Issues): void {
  if (yaml.isAlias(node)) issues.add(at, '', `an alias is refused: *${node.source.slice(0, 60)}`)
  if ('anchor' in node && node.anchor !== undefined) issues.add(at, '', `an anchor is refused: &${node.anchor.slice(0, 60)}`)
  if (node.tag !== undefined) issues.add(at, '', `a tag is refused: ${node.tag.slice(0, 60)}`)
}

function scalar(node: yaml.ParsedNode | null, at: number): ScalarNode {
  const value = yaml.isScalar(node) ? node.value : null
  const text = yaml.isScalar(node) ? (node.source ?? '') : ''
  if (value === null) return { kind: 'scalar', at, text, type: 'null' }
  const type = typeof value
  return { kind: 'scalar', at, text, type: type === 'number' || type === 'boolean' ? type : 'text' }
}

/** A policy that has lost its indentation is one flat map. Its many duplicate keys have one cause, so one is reported. */
function refuseDuplicates(root: PolicyNode, found: readonly Duplicate[], issues: Issues, position: Position): void {
  const outline = root.kind === 'map' ? root.fields.get('rate_limits')?.value : undefined
  const isFlat = outline?.kind === 'scalar' && outline.type === 'null'
  const flat = isFlat ? found.find(({ map }) => map.range[0] === root.at) : undefined
  if (flat !== undefined) {
    const { line } = position(flat.at)
    issues.add(flat.at, flat.name, `duplicate key ${flat.name} at line ${line}: is the indentation lost?`)
    return
  }
  for (const { name, at, first } of found) {
    const { line } = position(first)
    issues.add(at, name, `duplicate key ${quoted(name)}: it is at line ${line} already`)
  }
}

/** The lexer emits this before a plain or block scalar, whose text may contain anything. */
const SCALAR_FOLLOWS = '\u001f'
/** The first characters of anchors, aliases, tags and directives. */
const REFUSED = /^[&*!%]/

/**
 * Recognizes lexemes that certainly cause a refusal. `compose` reads on after the first, to report several, but stops after `MAX_MISTAKES`.
 */
function mistakeFinder(): (lexeme: string) => boolean {
  let before = ''
  return (lexeme) => {
    // Blanks, line ends and comments do not change which lexeme comes before another.
    if (/^(?:[ \t\r\n]|#)/.test(lexeme) && before !== SCALAR_FOLLOWS) return false
    const previous = before
    before = lexeme
    if (previous === SCALAR_FOLLOWS) return false
    if (lexeme === ',') return previous === ',' || previous === '[' || previous === '{'
    return lexeme === '---' ? previous !== '' : REFUSED.test(lexeme)
  }
}
