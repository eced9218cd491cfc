import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { CONSUMERS, type Outside, type Room, ROOMS } from './import-table.ts'
import { type Import, importsOf } from './import-scan.ts'
import type { Finding } from './finding.ts'
import { filesBelow } from './source-files.ts'

const SOURCE = 'packages/sluice/src'
const CODE = /\.(?:ts|tsx|mts|mjs)$/

/** An import that no rule allows. */
export interface Edge {
  readonly file: string
  readonly line: number
  readonly target: string
  readonly why: string
}

interface Row {
  readonly room: Room
  readonly used: Set<string>
  readonly bad: Edge[]
}

/** Checks every import of the library and of its consumers; the text is the table `folder | may import | imports today | ok`. */
export function checkImports(root: string, rooms: readonly Room[] = ROOMS): Finding {
  const rows: Row[] = rooms.map((room) => ({ room, used: new Set(), bad: [] }))
  const homeless: Edge[] = []
  for (const [file, found] of scan(join(root, SOURCE))) {
    const room = roomOf(file, rooms)
    const row = rows.find((candidate) => candidate.room === room)
    if (row === undefined) homeless.push({ file: `${SOURCE}/${file}`, line: 1, target: file, why: 'its folder has no row in the table' })
    else for (const one of found) judge(row, file, one, rooms)
  }
  const consumers = CONSUMERS.map((folder) => ({ folder, bad: consumerEdges(root, folder) }))
  const bad = [...homeless, ...rows.flatMap((row) => row.bad), ...consumers.flatMap((consumer) => consumer.bad)]
  const lines = [
    ['folder', 'may import', 'imports today', 'ok'],
    ...rows.map(({ room, used, bad: edges }) => [
      room.folder,
      permitted(room),
      [...used].sort().join(', '),
      edges.length === 0 ? 'yes' : 'NO',
    ]),
    ...consumers.map(({ folder, bad: edges }) => [folder, 'sluice, sluice/*', '', edges.length === 0 ? 'yes' : 'NO']),
  ]
  const edges = bad.map(({ file, line, target, why }) => `${file}:${line} -> ${target}: ${why}`)
  return { ok: bad.length === 0, text: [...lines.map((line) => line.join(' | ')), ...edges].join('\n') }
}

function judge(row: Row, file: string, found: Import, rooms: readonly Room[]): void {
  const { room, used, bad } = row
  const fail = (target: string, why: string): void => void bad.push({ file: `${SOURCE}/${file}`, line: found.line, target, why })
  if (!found.specifier.startsWith('.')) {
    used.add(found.specifier)
    const refusal = outsideRefusal(room, found)
    if (refusal !== undefined) fail(found.specifier, refusal)
    return
  }
  const target = posix.join(posix.dirname(file), found.specifier)
  if (target.startsWith('..')) return fail(target, 'it leaves src')
  const home = roomOf(target, rooms)
  if (home === room && sameRoom(file, target, room)) return
  used.add(posix.dirname(target))
  if (home?.folder === 'testing' && file === 'testing.ts') return
  const refusal = insideRefusal(room, target, home, found)
  if (refusal !== undefined) fail(target, refusal)
}

/** `stores/*` is as many rooms as there are folders: one store never imports another. */
function sameRoom(file: string, target: string, room: Room): boolean {
  if (!room.folder.endsWith('/*')) return true
  const depth = room.folder.split('/').length
  return file.split('/').slice(0, depth).join('/') === target.split('/').slice(0, depth).join('/')
}

function insideRefusal(room: Room, target: string, home: Room | undefined, found: Import): string | undefined {
  if (home?.folder === 'testing') return 'nothing in src imports the test kit'
  const named = (list: readonly string[]): boolean => ['*', target, home?.folder].some((name) => name !== undefined && list.includes(name))
  if (named(room.mayImport)) return undefined
  if (!named(room.typesOf ?? [])) return `${room.folder} may import ${permitted(room)}`
  return found.typeOnly ? undefined : `${room.folder} may import only types of it`
}

function outsideRefusal(room: Room, found: Import): string | undefined {
  const allowed = (room.outside ?? []).find((outside) => names(outside, found.specifier))
  if (allowed === undefined) return 'the library has no dependency: a reasoned exception belongs into scripts/src/import-table.ts'
  return allowed.typesOnly && !found.typeOnly ? 'only its types (import type)' : undefined
}

function names({ name }: Outside, specifier: string): boolean {
  return name === 'node:' ? specifier.startsWith(name) : specifier === name || specifier.startsWith(`${name}/`)
}

function consumerEdges(root: string, folder: string): Edge[] {
  const published = subpaths(root)
  return [...scan(join(root, folder))].flatMap(([file, found]) =>
    found.flatMap(({ specifier, line }) => {
      const why = consumerRefusal(file, specifier, published)
      return why === undefined ? [] : [{ file: `${folder}/${file}`, line, target: specifier, why }]
    }),
  )
}

function consumerRefusal(file: string, specifier: string, published: ReadonlySet<string>): string | undefined {
  if (specifier.startsWith('.'))
    return posix.join(posix.dirname(file), specifier).startsWith('..') ? 'it leaves its own folder: use the public subpaths' : undefined
  if (specifier !== 'sluice' && !specifier.startsWith('sluice/')) return undefined
  return published.has(specifier.replace(/^sluice/, '.')) ? undefined : 'not a published subpath of sluice'
}

function subpaths(root: string): ReadonlySet<string> {
  const text = readFileSync(join(root, 'packages/sluice/package.json'), 'utf8')
  return new Set(Object.keys((JSON.parse(text) as { exports?: object }).exports ?? {}))
}

function* scan(folder: string): Generator<[string, Import[]]> {
  for (const file of filesBelow(folder)) if (CODE.test(file)) yield [file, importsOf(readFileSync(join(folder, file), 'utf8'))]
}

/** The row whose folder fits best: the longest one. */
function roomOf(file: string, rooms: readonly Room[]): Room | undefined {
  const folder = posix.dirname(file)
  const fits = rooms.filter((room) =>
    room.folder.endsWith('/*') ? folder.startsWith(room.folder.slice(0, -1)) : within(folder, room.folder),
  )
  return fits.sort((a, b) => length(b) - length(a))[0]
}

function length({ folder }: Room): number {
  return folder.endsWith('/*') ? folder.length - 1.5 : folder.length
}

function within(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

function permitted({ folder, mayImport, typesOf = [], outside = [] }: Room): string {
  const all = mayImport.includes('*') ? [folder === 'testing' ? 'all' : 'all but testing'] : mayImport
  const list = [
    ...all,
    ...typesOf.map((name) => `${name} (types)`),
    ...outside.map(({ name, typesOnly }) => `${name}${typesOnly ? ' (types)' : ''}`),
  ]
  return list.length === 0 ? 'nothing' : list.join(', ')
}
