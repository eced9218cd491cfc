import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { asSent, shortNames } from './lua-names.ts'
import { luaProgram, type LuaPart, textOf } from './lua-program.ts'
import { compareTexts, recordOf, type RecordedMigration } from './migration-texts.ts'
import { orderedFunctions } from './sql-functions.ts'

/** A file that is generated from programs, and its text. */
export interface Target {
  readonly file: string
  readonly text: string
}

/** Returns the text of a program by its path: of the file, or of a mutant in its place. */
export type ReadProgram = (path: string) => string

const HEADER = '// Made from the programs beside this file by `npm run generate`; edit those, not this.\n\n'

export const readProgram: ReadProgram = (path) => readFileSync(path, 'utf8')

/** The path of the file that embeds the programs in a store's folder. */
export function embeddedIn(folder: string): string {
  return join(folder, '..', 'programs.gen.ts')
}

/** A Lua program as it is sent, and its parts. */
export interface LuaProgram {
  readonly name: string
  readonly source: string
  readonly parts: readonly LuaPart[]
}

/** The Lua programs of a folder: the files in its `programs`, with the files that they require from any of its folders. */
export function luaPrograms(folder: string, read: ReadProgram = readProgram): LuaProgram[] {
  const inside = readdirSync(folder).flatMap((name) =>
    readdirSync(join(folder, name)).map((file) => [file, join(folder, name, file)] as const),
  )
  const pathOf = new Map(inside)
  const source = (path: string): string => read(pathOf.get(basename(path)) ?? path)
  const files = readdirSync(join(folder, 'programs')).sort()
  const programs = files.map((file) => luaProgram(folder, file, source))
  const short = shortNames(new Set(programs.flat().map((part) => (typeof part === 'string' ? part : part.text))))
  return programs.map((program, index) => {
    const parts = program.map((part) => (typeof part === 'string' ? asSent(part, short) : { ...part, text: asSent(part.text, short) }))
    return { name: (files[index] as string).replace('.lua', ''), source: textOf(parts), parts }
  })
}

const PROGRAM = `/** A program: its digest, and its text, which is put together only for a server that does not know it. */
export interface Program {
  readonly sha1: string
  readonly source: () => string
}
`

/** The file that embeds the Lua programs of a folder. A text that several programs share is in it once. */
export function redisTarget(folder: string, read: ReadProgram = readProgram): Target {
  const files = new Map<string, string>()
  const programs = luaPrograms(folder, read).map(({ name, source, parts }) => {
    const sha1 = createHash('sha1').update(source).digest('hex')
    const texts = parts.map((part) => {
      if (typeof part === 'string') return literal(part)
      files.set(part.file, part.text)
      return constantOf(part.file)
    })
    return `export const ${name}Program: Program = {\n  sha1: '${sha1}',\n  source: () =>\n    [\n${texts.map((text) => `      ${text},\n`).join('')}    ].join(''),\n}\n`
  })
  const constants = [...files].map(([file, text]) => `const ${constantOf(file)} = ${literal(text)}\n`)
  return { file: embeddedIn(folder), text: `${HEADER}${[PROGRAM, ...constants, ...programs].join('\n')}` }
}

function constantOf(file: string): string {
  return file.replace('.lua', '').replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** What is generated from a folder of SQL. */
export interface SqlTargets {
  /** The embedded texts. */
  readonly embedded: Target
  /** Names and hashes of the migrations. */
  readonly record: Target
  /** The names of the migrations whose text differs from the record. */
  readonly changed: readonly string[]
  /** The statements that install everything, in order. */
  readonly statements: readonly string[]
}

const MIGRATION = 'readonly { readonly name: string; readonly sha256: string; readonly source: string }[]'
const FUNCTION = `export interface SqlFunction {
  readonly name: string
  readonly hash: string
  readonly source: string
}
`

/**
 * The generated files of a folder of SQL. Migrations of tables are append-only: they are numbered in order, and the text of a released one
 * never changes. Functions are installed under names with a hash of their text. Only those of `named` have fixed names, for programs in
 * other languages.
 */
export function postgresTargets(folder: string, read: ReadProgram = readProgram): SqlTargets {
  const record = join(folder, 'tables', 'migrations.json')
  const recorded = JSON.parse(readFileSync(record, 'utf8')) as RecordedMigration[]
  const { texts, changed } = compareTexts(recorded, (name) => strip(read(join(folder, 'tables', `${name}.sql`)), '--'))
  const functions = orderedFunctions(textsIn(join(folder, 'functions'), read))
  const named = [...textsIn(join(folder, 'named'), read)]
  const listed = (items: readonly object[]): string => items.map((item) => `  { ${fieldsOf(item)} },\n`).join('')
  const parts = [
    `export const migrations: ${MIGRATION} = [\n${listed(texts)}]\n`,
    `${FUNCTION}\nexport const functions: readonly SqlFunction[] = [\n${listed(functions)}]\n`,
    ...named.map(([name, text]) => `export const ${name}Program: string = ${literal(text)}\n`),
  ]
  return {
    embedded: { file: embeddedIn(folder), text: `${HEADER}${parts.join('\n')}` },
    record: { file: record, text: recordOf(texts) },
    changed,
    statements: [...texts, ...functions].map(({ source }) => source).concat(named.map(([, text]) => text)),
  }
}

/** The texts of the files in a folder, sorted by file name. */
function textsIn(folder: string, read: ReadProgram): Map<string, string> {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.sql')) : []
  return new Map(names.sort().map((name) => [name.slice(0, -'.sql'.length), strip(read(join(folder, name)), '--')]))
}

function fieldsOf(item: object): string {
  return Object.entries(item)
    .map(([name, value]) => `${name}: ${name === 'source' ? literal(String(value)) : `'${String(value)}'`}`)
    .join(', ')
}

/**
 * The text without comments and blank lines. They are only for readers, and would be sent to every server that does not know the program.
 */
function strip(text: string, comment: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd())
  return `${lines.filter((line) => line !== '' && !line.trimStart().startsWith(comment)).join('\n')}\n`
}

function literal(text: string): string {
  return `\`${text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')}\``
}
