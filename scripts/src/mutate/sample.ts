import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { keyOf, type Mutant } from './mutants.ts'
import type { NoticedBy } from './record.ts'
import type { Tried } from './report.ts'
import { type Room, roomOf } from './rooms.ts'

/** One mutant of the fixed sample, known as an explanation knows it. */
export interface Sampled {
  readonly file: string
  readonly code: string
  readonly from: string
  readonly to: string
  /** 1 where it is not said. */
  readonly nth?: number
  /** The test file that noticed it when the sample was drawn; absent where none did. */
  readonly test?: string
  /** And which of its tests. */
  readonly name?: string
}

/** What a run of the sample found out of one room. */
export interface SampleResult {
  readonly room: Room
  readonly noticed: number
  /** Noticed when they were drawn, and not now. */
  readonly lost: readonly Sampled[]
  /** Survivors when they were drawn, which nobody explained. */
  readonly survived: number
  /** Survivors with a written reason: they change nothing and count for nothing. */
  readonly explained: number
  /** Their line is not what it was. */
  readonly gone: number
  /** There was no time for them. */
  readonly left: number
  /** Tests that fail without any change: they would notice everything. */
  readonly broken: readonly string[]
}

/** So unlikely may be what a sample says, where its room is at its goal. */
const CHANCE = 0.01
/** A sample of which more is gone says little of the code. */
const GONE = 0.4

export function readSample(file: string): Sampled[] {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Sampled[]) : []
}

/**
 * Puts what was tried into the sample, in place of what it had of those rooms. What only ends by its time is left out: a sample has
 * to be quick.
 */
export function drawSample(file: string, tried: readonly Tried[], noticedBy: (mutant: Mutant) => NoticedBy | undefined): void {
  const rooms = new Set(tried.map(({ mutant }) => roomOf(mutant.file)))
  const drawn = tried.flatMap(({ mutant, status }): Sampled[] => {
    const by = noticedBy(mutant)
    if (status === 'invalid' || status === 'timeout' || (status === 'killed' && by === undefined)) return []
    const { nth, from, to, code } = mutant
    return [{ file: mutant.file, code, from, to, ...(nth === 1 ? {} : { nth }), ...by }]
  })
  const all = [...readSample(file).filter((one) => !rooms.has(roomOf(one.file))), ...drawn]
  writeFileSync(file, `[\n${all.map((one) => `  ${JSON.stringify(one)}`).join(',\n')}\n]\n`)
}

export function sampledKey({ nth = 1, ...others }: Sampled): string {
  return keyOf({ ...others, nth })
}

/** One line for each room, and whether all is well: nothing that was noticed survives, and no room is below its goal, as far as a sample says. */
export function judge(results: readonly SampleResult[]): { readonly ok: boolean; readonly text: string } {
  const lines = results.flatMap(({ room, noticed, lost, survived, explained, gone, left, broken }) => {
    const count = noticed + lost.length + survived
    const share = count === 0 ? '-' : ((100 * noticed) / count).toFixed(1)
    const others = [`${explained} explained`, `${gone} gone`, `${left} not tried`].join(', ')
    return [
      `${room.name}: ${noticed} of ${count} noticed, ${share} % of at least ${room.goal * 100} % (${others})`,
      ...lost.map(
        ({ file, code, from, to, test }) => `  ${file}: ${code}  [${from} -> ${to || 'nothing'}]: ${test} does not notice it any more`,
      ),
      ...broken.map((test) => `  ${test} fails without any change`),
      ...(isUntried({ noticed, lost, left }) ? ['  none of the mutants that were noticed was tried'] : []),
      ...(isLow(room, noticed, count) ? [`  so few would be the chance of one in ${1 / CHANCE} where the goal is reached`] : []),
      ...(isOld(gone, count) ? ['  too much of the sample is gone: draw it again (CONTRIBUTING.md, Mutants)'] : []),
    ]
  })
  const ok = results.every(({ room, noticed, lost, survived, gone, left, broken }) => {
    const count = noticed + lost.length + survived
    return (
      broken.length === 0 && lost.length === 0 && !isUntried({ noticed, lost, left }) && !isLow(room, noticed, count) && !isOld(gone, count)
    )
  })
  return { ok, text: lines.join('\n') }
}

function isUntried({ noticed, lost, left }: Pick<SampleResult, 'noticed' | 'lost' | 'left'>): boolean {
  return left > 0 && noticed + lost.length === 0
}

function isOld(gone: number, count: number): boolean {
  return gone > GONE * (gone + count)
}

function isLow({ goal }: Room, noticed: number, count: number): boolean {
  return count > 0 && atMost(noticed, count, goal) < CHANCE
}

/** How likely at most so many of them are noticed, where each is with this chance. */
export function atMost(noticed: number, count: number, chance: number): number {
  let term = (1 - chance) ** count
  let sum = 0
  for (let hits = 0; hits <= noticed; hits += 1) {
    sum += term
    term *= ((count - hits) / (hits + 1)) * (chance / (1 - chance))
  }
  return sum
}
