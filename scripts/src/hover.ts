import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { type Comment, parseSync, type Statement, type TSSignature, type TSType } from 'oxc-parser'
import { type Finding, findingOf } from './finding.ts'

const PACKAGE = 'packages/sluice'
const SCHEMA = `${PACKAGE}/policy.schema.json`

/** A name that an editor shows, and whether it has text to show. */
interface Named {
  readonly name: string
  readonly said: boolean
}

/**
 * Checks that an editor has a text for whatever a caller of the library or a writer of a policy points at: every exported name, every
 * member of an exported interface or class, and every property of the policy's schema.
 */
export function checkHover(root: string): Finding {
  const { exports } = JSON.parse(readFileSync(join(root, PACKAGE, 'package.json'), 'utf8')) as {
    exports: Record<string, { types?: string }>
  }
  const seen = new Map<string, Named>()
  for (const [subpath, { types }] of Object.entries(exports)) {
    if (types === undefined) continue
    const entry = posix.join('sluice', subpath)
    for (const [name, declarations] of exportsOf(join(root, PACKAGE, types)))
      for (const one of namesIn(name, declarations)) {
        // A name that several subpaths export is listed under the first of them.
        const key = `${one.name} ${declarations[0]?.file}`
        if (!seen.has(key)) seen.set(key, { name: `${entry} ${one.name}`, said: one.said })
      }
  }
  const schema = [...propertiesOf(JSON.parse(readFileSync(join(root, SCHEMA), 'utf8')), '')]
  const missing = [...seen.values(), ...schema].filter(({ said }) => !said).map(({ name }) => `${name} has no text`)
  if (missing.length > 0) return findingOf(missing)
  return { ok: true, text: `${seen.size} names and members, ${schema.length} properties of the schema, each with a text` }
}

/** A statement that declares a name, in the file where it stands. */
interface Declaration {
  readonly file: string
  readonly statement: Statement
  readonly comments: readonly Comment[]
  readonly code: string
}

/** What a file exports, with its own declarations and those of other files. A function with overloads has several. */
function exportsOf(file: string): Map<string, readonly Declaration[]> {
  const code = readFileSync(file, 'utf8')
  const { program, comments } = parseSync(file, code)
  const found = new Map<string, readonly Declaration[]>()
  const other = (specifier: string) => exportsOf(join(dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts')))
  const imported = new Map<string, readonly [specifier: string, name: string]>()
  for (const statement of program.body) {
    if (statement.type !== 'ImportDeclaration') continue
    for (const one of statement.specifiers)
      if (one.type === 'ImportSpecifier') imported.set(one.local.name, [statement.source.value, nameOf(one.imported)])
  }
  const here = (name: string): readonly Declaration[] =>
    program.body.filter((statement) => declaredBy(statement).includes(name)).map((statement) => ({ file, statement, comments, code }))
  const local = (name: string): readonly Declaration[] => {
    const from = imported.get(name)
    return from === undefined ? here(name) : (other(from[0]).get(from[1]) ?? [])
  }
  for (const statement of program.body) {
    if (statement.type === 'ExportAllDeclaration') {
      const all = other(statement.source.value)
      const space = statement.exported === null ? undefined : nameOf(statement.exported)
      for (const [name, declarations] of all) found.set(space === undefined ? name : `${space}.${name}`, declarations)
    } else if (statement.type === 'ExportNamedDeclaration') {
      for (const name of declaredBy(statement)) found.set(name, here(name))
      for (const one of statement.specifiers) {
        const name = nameOf(one.local)
        found.set(nameOf(one.exported), statement.source === null ? local(name) : (other(statement.source.value).get(name) ?? []))
      }
    }
  }
  return found
}

function declaredBy(statement: Statement): string[] {
  const node = statement.type === 'ExportNamedDeclaration' && statement.declaration !== null ? statement.declaration : statement
  if (node.type === 'VariableDeclaration') return node.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
  return 'id' in node && node.id !== null && node.id.type === 'Identifier' ? [node.id.name] : []
}

function nameOf(node: { readonly name: string } | { readonly value: string }): string {
  return 'name' in node ? node.name : node.value
}

/** A name and its members. */
function* namesIn(name: string, declarations: readonly Declaration[]): Generator<Named> {
  yield { name, said: declarations.some(({ statement, ...file }) => hasText(statement.start, file)) }
  for (const { statement, ...file } of declarations) {
    const node = statement.type === 'ExportNamedDeclaration' && statement.declaration !== null ? statement.declaration : statement
    const said = (start: number): boolean => hasText(start, file)
    if (node.type === 'TSInterfaceDeclaration') yield* signatures(name, node.body.body, said)
    else if (node.type === 'TSTypeAliasDeclaration') yield* inType(name, node.typeAnnotation, said)
    else if (node.type === 'ClassDeclaration') {
      for (const member of node.body.body) {
        if (!('key' in member) || member.key.type !== 'Identifier' || ('accessibility' in member && member.accessibility === 'private'))
          continue
        // An editor shows the text of the class for its constructor.
        if (member.key.name !== 'constructor') yield { name: `${name}.${member.key.name}`, said: said(member.start) }
      }
    }
  }
}

/** The members of the objects that a type is made of. */
function* inType(name: string, type: TSType, said: (start: number) => boolean): Generator<Named> {
  if (type.type === 'TSTypeLiteral') yield* signatures(name, type.members, said)
  else if (type.type === 'TSUnionType' || type.type === 'TSIntersectionType') for (const one of type.types) yield* inType(name, one, said)
  else if (type.type === 'TSParenthesizedType') yield* inType(name, type.typeAnnotation, said)
}

function* signatures(name: string, members: readonly TSSignature[], said: (start: number) => boolean): Generator<Named> {
  for (const member of members) {
    if (member.type !== 'TSPropertySignature' && member.type !== 'TSMethodSignature') continue
    const key = member.key.type === 'Identifier' ? member.key.name : member.key.type === 'Literal' ? String(member.key.value) : undefined
    if (key !== undefined) yield { name: `${name}.${key}`, said: said(member.start) }
  }
}

/** Whether a comment for editors ends right before this place. */
function hasText(start: number, { comments, code }: Pick<Declaration, 'comments' | 'code'>): boolean {
  return comments.some(
    ({ type, value, end }) => type === 'Block' && value.startsWith('*') && end <= start && code.slice(end, start).trim() === '',
  )
}

/** The properties of a schema, by their path, and whether each has a description. */
function* propertiesOf(schema: unknown, path: string): Generator<Named> {
  if (typeof schema !== 'object' || schema === null) return
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword !== 'properties') yield* propertiesOf(value, path)
    else
      for (const [name, property] of Object.entries(value as Record<string, { readonly description?: unknown }>)) {
        const at = path === '' ? name : `${path}.${name}`
        yield { name: `${SCHEMA} ${at}`, said: typeof property.description === 'string' && property.description !== '' }
        yield* propertiesOf(property, at)
      }
  }
}
