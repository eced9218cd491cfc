import { type Node, visitorKeys } from 'oxc-parser'

/** A piece of a source and what replaces it. */
export interface Mutation {
  readonly start: number
  readonly end: number
  readonly to: string
}

/** The replacements of an operator: arithmetic, boundaries, comparisons, bits and logic. */
const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '**': ['*'],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '&': ['|'],
  '|': ['&'],
  '^': ['&'],
  '<<': ['>>'],
  '>>': ['<<'],
  '>>>': ['<<'],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
  '++': ['--'],
  '--': ['++'],
  '+=': ['-='],
  '-=': ['+='],
  '*=': ['/='],
  '/=': ['*='],
  '%=': ['*='],
  '&=': ['|='],
  '|=': ['&='],
  '^=': ['&='],
  '<<=': ['>>='],
  '>>=': ['<<='],
  '>>>=': ['<<='],
  '&&=': ['||='],
  '||=': ['&&='],
  '??=': ['&&='],
}

/** For a function of Math, the function that replaces it: its opposite or a similar one. */
const MATH: Readonly<Record<string, string>> = {
  min: 'max',
  max: 'min',
  floor: 'ceil',
  ceil: 'floor',
  round: 'floor',
  trunc: 'ceil',
}

/** Types have no behaviour, so they are not mutated. Of these nodes only the inner expression is mutated. */
const CASTS: ReadonlySet<string> = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression', 'TSInstantiationExpression'])

/** Every mutation of a program, in the order of the source. */
export function mutationsOf(program: Node, source: string): Mutation[] {
  const found: Mutation[] = []
  walk(program, (node) => void found.push(...ofNode(node, source)))
  const unique = new Map(found.map((mutation) => [`${mutation.start}:${mutation.end}:${mutation.to}`, mutation]))
  return [...unique.values()].sort((a, b) => a.start - b.start || a.end - b.end)
}

function walk(node: Node, see: (node: Node) => void): void {
  if (node.type.startsWith('TS') && !CASTS.has(node.type)) return
  if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return
  see(node)
  for (const key of visitorKeys[node.type] ?? []) {
    const value = (node as unknown as Record<string, unknown>)[key]
    for (const child of Array.isArray(value) ? (value as unknown[]) : [value]) if (isNode(child)) walk(child, see)
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}

function ofNode(node: Node, source: string): Mutation[] {
  switch (node.type) {
    case 'BinaryExpression':
      if (node.operator === '+' && (isText(node.left) || isText(node.right))) return []
      return operator(source, node.left.end, node.right.start, node.operator)
    case 'LogicalExpression':
    case 'AssignmentExpression':
      return operator(source, node.left.end, node.right.start, node.operator)
    case 'UpdateExpression':
      return node.prefix
        ? operator(source, node.start, node.argument.start, node.operator)
        : operator(source, node.argument.end, node.end, node.operator)
    case 'UnaryExpression':
      return '!-~'.includes(node.operator) ? [{ start: node.start, end: node.start + 1, to: '' }] : []
    case 'Literal':
      return constant(node)
    case 'IfStatement':
    case 'ConditionalExpression':
      return [replaced(node.test, 'true'), replaced(node.test, 'false')]
    case 'WhileStatement':
      return [replaced(node.test, 'false')]
    case 'ForStatement':
      return node.test === null ? [] : [replaced(node.test, 'false')]
    case 'CallExpression':
      return math(node)
    case 'ReturnStatement':
      return node.argument === null || isNothing(node.argument) ? [] : [replaced(node.argument, 'undefined')]
    case 'ArrowFunctionExpression':
      return node.expression && !isNothing(node.body) && node.body.type !== 'AssignmentExpression' ? [replaced(node.body, 'undefined')] : []
    case 'ExpressionStatement':
    case 'ThrowStatement':
    case 'BreakStatement':
    case 'ContinueStatement':
      return [replaced(node, ';')]
    default:
      return []
  }
}

function operator(source: string, from: number, to: number, text: string): Mutation[] {
  const start = source.indexOf(text, from)
  if (start === -1 || start >= to) return []
  return (OPERATORS[text] ?? []).map((other) => ({ start, end: start + text.length, to: other }))
}

function constant(node: Node & { type: 'Literal' }): Mutation[] {
  if (typeof node.value === 'boolean') return [replaced(node, String(!node.value))]
  if (typeof node.value === 'number') return [replaced(node, String(node.value === 1 ? 0 : node.value + 1))]
  if (typeof node.value === 'bigint') return [replaced(node, `${node.value === 1n ? 0n : node.value + 1n}n`)]
  return []
}

function math({ callee }: Node & { type: 'CallExpression' }): Mutation[] {
  if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier') return []
  if (callee.object.type !== 'Identifier' || callee.object.name !== 'Math') return []
  const other = MATH[callee.property.name]
  return other === undefined ? [] : [replaced(callee.property, other)]
}

function replaced({ start, end }: { readonly start: number; readonly end: number }, to: string): Mutation {
  return { start, end, to }
}

function isText(node: Node): boolean {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string')
}

/**
 * Whether undefined in place of this node might change nothing, because the node is false, undefined, or a body in braces. Such a node is
 * replaced by true instead.
 */
function isNothing(node: Node): boolean {
  if (node.type === 'Literal') return node.value === false
  return node.type === 'BlockStatement' || (node.type === 'Identifier' && node.name === 'undefined')
}
