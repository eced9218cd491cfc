import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { keyOf, type Mutant } from './mutants.ts'
import type { NoticedBy } from './record.ts'
import type { Tried } from './report.ts'
import { type Room, roomOf } from './rooms.ts'

/** One mutant of the fixed sample. `file`, `code`, `from`, `to` and `nth` identify it. */
export interface Sampled {
  readonly file: string
  readonly code: string
  readonly from: string
  readonly to: string
  /** Default: 1. */
  readonly nth?: number
  /** The test file that noticed the mutant when the sample was drawn; absent if none did. */
  readonly test?: string
  /** The name of the test in that file. */
  readonly name?: string
}

/** The result of a run of the sample for one room. */
export interface SampleResult {
  readonly room: Room
  readonly noticed: number
  /** Mutants that were noticed when the sample was drawn, and are not noticed now. */
  readonly lost: readonly Sampled[]
  /** The number of mutants that survived when the sample was drawn, without an explanation. */
  readonly survived: number
  /** The number of survivors with an explanation. They are not counted. */
  readonly explained: number
  /** The number of mutants whose line has changed since. */
  readonly gone: number
  /** The number of mutants for which there was no time. */
  readonly left: number
  /** Tests that fail without any change. They would seem to notice every mutant. */
  readonly broken: readonly string[]
}

/** A room counts as below its goal if a room at its goal would give such a result with a probability below this. */
const CHANCE = 0.01
/** If a larger share of the sample is gone, the sample says little about the code and must be drawn again. */
const GONE = 0.4

export function readSample(file: string): Sampled[] {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Sampled[]) : []
}

/**
 * Puts the tried mutants into the sample, instead of the earlier ones of their rooms. Mutants that only a timeout notices are left out,
 * because the sample has to be quick.
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

/**
 * Judges the results: one line for each room, and `ok`, which is false if a test fails without a change, if a noticed mutant survives now,
 * if a room is below its goal, or if the sample is too old or no noticed mutant was tried.
 */
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

/** The probability that at most `noticed` of `count` mutants are noticed, if each is noticed with probability `chance`. */
export function atMost(noticed: number, count: number, chance: number): number {
  let term = (1 - chance) ** count
  let sum = 0
  for (let hits = 0; hits <= noticed; hits += 1) {
    sum += term
    term *= ((count - hits) / (hits + 1)) * (chance / (1 - chance))
  }
  return sum
}
