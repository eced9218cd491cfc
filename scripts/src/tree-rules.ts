import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Finding, findingOf } from './finding.ts'
import { filesBelow, textOf } from './source-files.ts'

const MAX_LINES = 300
const MAX_WIDTH = 120
const MEASURED = /\.(?:ts|tsx|mts|mjs|lua|sql)$/
/** Files with data, which programs wrote or which were copied from elsewhere. */
const DATA = /\.gen\.ts$|(?:^|\/)(?:traces|fixtures|results)(?:\/|\.ts$)/
const NAMELESS: ReadonlySet<string> = new Set(['utils', 'util', 'helpers', 'common', 'misc'])
const SOURCE = 'packages/sluice/src'
const STORE_NAME = /redis/i
/** Files outside the Redis store's folder that may name Redis. */
const DOORS: ReadonlySet<string> = new Set(['redis.ts', 'distributed-rate-limiter.ts'])
const URL_SCHEME = /rediss?(?:\+(?:cluster|sentinel))?:/g

/** Checks that files have at most 300 lines, except files of data, and that lines of documents have at most 120 characters. */
export function checkLengths(root: string): Finding {
  const long = filesBelow(root).flatMap((file) => {
    if (file.endsWith('.md')) return longLines(file, readFileSync(join(root, file), 'utf8'))
    if (!MEASURED.test(file) || DATA.test(file)) return []
    const lines = readFileSync(join(root, file), 'utf8').split('\n').length - 1
    return lines > MAX_LINES ? [`${file}: ${lines} lines, at most ${MAX_LINES}: make it two files of one idea each`] : []
  })
  return findingOf(long)
}

/** Lines that cannot be broken may be longer: tables, code, comments that programs read, and lines of one word. */
function longLines(file: string, text: string): string[] {
  let fenced = false
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced
    const isWhole = fenced || /^\s*(?:\||<!--|\S+$)/.test(line)
    return !isWhole && line.length > MAX_WIDTH ? [`${file}:${index + 1}: ${line.length} characters, at most ${MAX_WIDTH}`] : []
  })
}

/** Refuses folders whose names say nothing, and the name of a store outside its folder. */
export function checkNames(root: string): Finding {
  const files = filesBelow(root)
  const folders = new Set(
    files.flatMap((file) =>
      file
        .split('/')
        .slice(0, -1)
        .map((_, index, parts) => parts.slice(0, index + 1).join('/')),
    ),
  )
  const nameless = [...folders].filter((folder) => NAMELESS.has(folder.split('/').at(-1) as string))
  return findingOf([...nameless.map((folder) => `${folder}/: name the folder after what is in it`), ...storeNames(root)])
}

/** Finds the word `redis` in shared code. It is only allowed in the store's folder, in the files of `DOORS`, and in URL schemes. */
function storeNames(root: string): string[] {
  const source = join(root, SOURCE)
  return filesBelow(source).flatMap((file) => {
    if (file.startsWith('stores/redis/') || DOORS.has(file)) return []
    const lines = (textOf(join(source, file)) ?? '').split('\n')
    return lines.flatMap((line, index) => {
      const rest = file.startsWith('policy/') ? line.replaceAll(URL_SCHEME, '') : line
      return STORE_NAME.test(rest) ? [`${SOURCE}/${file}:${index + 1}: names a store outside of its room`] : []
    })
  })
}
