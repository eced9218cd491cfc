import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { parseSync, type Statement } from 'oxc-parser'
import { type Finding, findingOf } from './finding.ts'

const PACKAGE = 'packages/sluice'
const REPORT = `${PACKAGE}/api.txt`
const HEAD =
  'Every exported name of every subpath with its declaration, as compiled. Written by `npm run api`, compared by `npm run check -- api`.\n'

/** Compares the API of the built package with the committed report. */
export function checkApi(root: string): Finding {
  const file = join(root, REPORT)
  const before = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const now = apiOf(root).split('\n')
  const lines = [
    ...before.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
    ...now.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
  ]
  if (before.join('\n') === now.join('\n')) return findingOf([])
  return findingOf([`${REPORT} is not what is exported: if that is meant, npm run api, in the same commit`, ...lines])
}

/**
 * The report: a section for each subpath. A name that several subpaths export is declared under the first of them, and only named under the
 * others.
 */
function apiOf(root: string): string {
  const { exports } = JSON.parse(readFileSync(join(root, PACKAGE, 'package.json'), 'utf8')) as {
    exports: Record<string, { types?: string }>
  }
  const home = new Map<string, string>()
  const sections = Object.entries(exports).flatMap(([subpath, { types }]) => {
    if (types === undefined) return []
    const door = posix.join('sluice', subpath)
    const entries = [...exportsOf(join(root, PACKAGE, types))].sort(([a], [b]) => (a < b ? -1 : 1))
    const texts = entries.map(([name, declaration]) => {
      const key = `${name} ${declaration}`
      const first = home.get(key)
      if (first === undefined) home.set(key, door)
      return first === undefined ? declaration : `${name}: as in ${first}`
    })
    return [`## ${door}\n\n${texts.join('\n')}\n`]
  })
  return [HEAD, ...sections].join('\n')
}

/** The declarations of a file by exported name, with those that it exports again from other files. */
function exportsOf(file: string): Map<string, string> {
  const source = readFileSync(file, 'utf8')
  const { program, comments } = parseSync(file, source)
  const code = comments.reduce((text, { start, end }) => text.slice(0, start) + ' '.repeat(end - start) + text.slice(end), source)
  const found = new Map<string, string>()
  /** Adds a declaration. A function with overloads has several declarations under one name. */
  const add = (name: string, text: string): void => void found.set(name, found.has(name) ? `${found.get(name)}\n${text}` : text)
  const other = (specifier: string): Map<string, string> => exportsOf(join(dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts')))
  const imported = new Map<string, readonly [specifier: string, name: string]>()
  for (const statement of program.body) {
    if (statement.type !== 'ImportDeclaration') continue
    for (const one of statement.specifiers)
      if (one.type === 'ImportSpecifier') imported.set(one.local.name, [statement.source.value, nameOf(one.imported)])
  }
  const local = (name: string): string => {
    const from = imported.get(name)
    if (from !== undefined) return other(from[0]).get(from[1]) ?? lost(file, name)
    return textOf(code, program.body, name) ?? lost(file, name)
  }
  for (const statement of program.body) {
    if (statement.type === 'ExportAllDeclaration') {
      for (const [name, text] of other(statement.source.value)) add(name, text)
    } else if (statement.type === 'ExportNamedDeclaration') {
      const { declaration, source: from, specifiers } = statement
      if (declaration !== null) for (const name of declared(declaration)) add(name, tidy(code.slice(declaration.start, declaration.end)))
      for (const one of specifiers) {
        const [name, as] = [nameOf(one.local), nameOf(one.exported)]
        const text = from === null ? local(name) : (other(from.value).get(name) ?? lost(file, name))
        add(as, as === name ? text : `${as}: ${text}`)
      }
    }
  }
  return found
}

function lost(file: string, name: string): never {
  throw new Error(`${file}: no declaration of ${name} was found`)
}

/** The declarations of a name in a file; undefined without one. */
function textOf(code: string, body: readonly Statement[], name: string): string | undefined {
  const texts = body.filter((statement) => declared(statement).includes(name)).map(({ start, end }) => tidy(code.slice(start, end)))
  return texts.length === 0 ? undefined : texts.join('\n')
}

function declared(node: Statement): string[] {
  if (node.type === 'VariableDeclaration') return node.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
  return 'id' in node && node.id !== null && node.id.type === 'Identifier' ? [node.id.name] : []
}

function nameOf(node: { readonly name: string } | { readonly value: string }): string {
  return 'name' in node ? node.name : node.value
}

/** The text without empty lines, which comments left, and without private members, which no caller sees. */
function tidy(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd())
  const seen = lines.filter((line) => line !== '' && !/^\s+(?:private\b|#)/.test(line))
  return seen.join('\n').replace(/^(?:export )?(?:declare )?/, '')
}

if (process.argv[1] === import.meta.filename) {
  const root = join(import.meta.dirname, '..', '..')
  writeFileSync(join(root, REPORT), apiOf(root))
}
