import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Finding, findingOf } from './finding.ts'
import { filesBelow, textOf } from './source-files.ts'

const LONGEST = 300
const MEASURED = /\.(?:ts|tsx|mts|mjs|lua|sql)$/
/** Data: written by programs, or copied from elsewhere. */
const DATA = /\.gen\.ts$|(?:^|\/)(?:traces|fixtures|results)(?:\/|\.ts$)/
const NAMELESS: ReadonlySet<string> = new Set(['utils', 'util', 'helpers', 'common', 'misc'])
const SOURCE = 'packages/sluice/src'
const STORE_NAME = /redis/i
/** Where the room is put together with others. */
const DOORS: ReadonlySet<string> = new Set(['redis.ts', 'distributed-rate-limiter.ts'])
const URL_SCHEME = /rediss?(?:\+(?:cluster|sentinel))?:/g

/** Files of at most 300 lines, data exempt. */
export function checkLengths(root: string): Finding {
  const long = filesBelow(root).flatMap((file) => {
    if (!MEASURED.test(file) || DATA.test(file)) return []
    const lines = readFileSync(join(root, file), 'utf8').split('\n').length - 1
    return lines > LONGEST ? [`${file}: ${lines} lines, at most ${LONGEST}: make it two files of one idea each`] : []
  })
  return findingOf(long)
}

/** No folder whose name says nothing, and no store's name outside its room. */
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

/** Shared code never knows a store by name: the word stands in the store's room and in policy's URL schemes. */
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
