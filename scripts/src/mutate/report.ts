import { keyOf, type Mutant } from './mutants.ts'
import { ELSEWHERE, roomOf, ROOMS } from './rooms.ts'

/** `invalid`: the mutant is not a valid program, and is not counted. */
export type Status = 'killed' | 'timeout' | 'survived' | 'invalid'

export interface Tried {
  readonly mutant: Mutant
  readonly status: Status
}

/** Why no test can or should notice a mutant. Without `from` and `to` it holds for all survivors of the line. Default of `nth`: 1. */
export interface Explanation {
  readonly file: string
  readonly code: string
  readonly from?: string
  readonly to?: string
  readonly nth?: number
  readonly why: string
}

export interface Report {
  readonly ok: boolean
  readonly text: string
  /** Survivors without an explanation, in the form of an explanation. */
  readonly unexplained: readonly Explanation[]
}

/** The most by which a room may miss its goal because of survivors that have an explanation. */
const EXCUSED = 0.1
/** The largest share of survivors that may have no explanation. */
const UNEXPLAINED = 0.05

/**
 * Reports how many mutants the tests noticed, by file and by room (sources with the same tests), and lists the survivors. `ok` means: every
 * room reaches its goal, at most 5 % of the survivors have no explanation, and no explanation is out of date. Mutants that are not valid
 * programs are not counted.
 * @param all the mutants that were tried, with their results
 * @param known every mutant of the files that were tried, also those left out of a sample
 */
export function reportOf(all: readonly Tried[], known: readonly Mutant[], explanations: readonly Explanation[]): Report {
  const reasons = reasonsOf(explanations)
  const tried = all.filter(({ status }) => status !== 'invalid')
  const files = new Set(all.map(({ mutant }) => mutant.file))
  const rows = [...files].map((file) =>
    row(
      file,
      tried.filter(({ mutant }) => mutant.file === file),
      reasons,
    ),
  )
  const survivors = tried.filter(({ status }) => status === 'survived').map(({ mutant }) => mutant)
  const unexplained = survivors.filter((mutant) => reasons.of(mutant) === undefined)
  const explained = survivors.filter((mutant) => reasons.of(mutant) !== undefined)
  const used = new Set(explained.map((mutant) => reasons.of(mutant)))
  const noticed = new Set(tried.filter(({ status }) => status !== 'survived').map(({ mutant }) => keyOf(mutant)))
  const keys = new Set(known.map(keyOf))
  const lines = new Set(known.map(({ file, code }) => `${file}\0${code}`))
  const complete = all.length === known.length
  const stale = explanations.flatMap((explanation) => {
    const { file, code, from, to } = explanation
    if (!files.has(file) || used.has(explanation)) return []
    if (from === undefined || to === undefined) {
      if (!lines.has(`${file}\0${code}`)) return [`${file}: ${code}: is explained, but there is no such line with a mutant`]
      return complete ? [`${file}: ${code}: is explained, but nothing of it survives`] : []
    }
    const key = keyOf({ nth: 1, file, code, from, to, ...(explanation.nth === undefined ? {} : { nth: explanation.nth }) })
    if (noticed.has(key)) return [`${file}: ${change(code, from, to)}: is explained, but a test notices it`]
    return keys.has(key) ? [] : [`${file}: ${change(code, from, to)}: is explained, but there is no such mutant`]
  })
  const rooms = [...ROOMS, ELSEWHERE].flatMap((room) => {
    const here = tried.filter(({ mutant }) => roomOf(mutant.file) === room)
    return here.length === 0 ? [] : [{ room, here }]
  })
  const parts = [
    table([HEAD, ...rows, ...rooms.map(({ room, here }) => row(room.name, here, reasons)), row('all', tried, reasons)]),
    list(
      'survivors, explained',
      explained.map((mutant) => `${describe(mutant)}\n      ${reasons.of(mutant)?.why ?? ''}`),
    ),
    list('survivors, not explained', unexplained.map(describe)),
    list('explanations of nothing', stale),
  ]
  // An explained survivor changes nothing that a test could see. It is listed, but left out of the share that is compared with the goal.
  const noticeable = (here: readonly Tried[]): readonly Tried[] =>
    here.filter(({ status, mutant }) => status !== 'survived' || reasons.of(mutant) === undefined)
  const goals = rooms.map(({ room, here }) => {
    const [whole, compared] = [percent(here), percent(noticeable(here))]
    return `${room.name}: ${compared} % noticed of at least ${room.goal * 100} % (${whole} % with what is explained)`
  })
  return {
    ok:
      rooms.every(({ room, here }) => shareOf(noticeable(here)) >= room.goal && shareOf(here) >= room.goal - EXCUSED) &&
      unexplained.length <= UNEXPLAINED * survivors.length &&
      stale.length === 0,
    text: [...parts.filter((part) => part !== ''), goals.join('\n')].join('\n\n'),
    unexplained: unexplained.map(({ file, code, from, to, nth }) => ({ file, code, from, to, ...(nth === 1 ? {} : { nth }), why: '' })),
  }
}

function shareOf(tried: readonly Tried[]): number {
  return tried.length === 0 ? 1 : tried.filter(({ status }) => status !== 'survived').length / tried.length
}

function percent(tried: readonly Tried[]): string {
  return tried.length === 0 ? '-' : (100 * shareOf(tried)).toFixed(1)
}

export interface Reasons {
  of(mutant: Mutant): Explanation | undefined
}

/** Finds the explanation of a mutant. One of the mutant itself takes precedence over one of its line. */
export function reasonsOf(explanations: readonly Explanation[]): Reasons {
  const byMutant = new Map<string, Explanation>()
  const byLine = new Map<string, Explanation>()
  for (const explanation of explanations) {
    const { file, code, from, to, nth = 1 } = explanation
    if (from === undefined || to === undefined) byLine.set(`${file}\0${code}`, explanation)
    else byMutant.set(keyOf({ file, code, from, to, nth }), explanation)
  }
  return { of: (mutant) => byMutant.get(keyOf(mutant)) ?? byLine.get(`${mutant.file}\0${mutant.code}`) }
}

const HEAD: readonly string[] = ['file', 'mutants', 'killed', 'timeouts', 'survived', 'explained', '% noticed']

function row(name: string, tried: readonly Tried[], reasons: Reasons): string[] {
  const count = (status: Status): number => tried.filter((one) => one.status === status).length
  const explained = tried.filter(({ status, mutant }) => status === 'survived' && reasons.of(mutant) !== undefined).length
  return [name, ...[tried.length, count('killed'), count('timeout'), count('survived'), explained].map(String), percent(tried)]
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((cells) => (cells[column] as string).length)))
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column] as number) : cell.padStart(widths[column] as number)
  return rows.map((cells) => cells.map(pad).join('  ')).join('\n')
}

function list(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`
}

/** The place and the change of a mutant, in one line. */
export function describe({ file, line, column, code, from, to }: Mutant): string {
  return `${file}:${line}:${column}: ${change(code, from, to)}`
}

function change(code: string, from: string, to: string): string {
  const short = from.replaceAll(/\s+/g, ' ')
  return `${code}  [${short.length > 60 ? `${short.slice(0, 57)}...` : short} -> ${to === '' ? 'nothing' : to}]`
}
