import { createHash } from 'node:crypto'
import { join, relative } from 'node:path'
import { keyOf, type Mutant } from './mutants.ts'
import { marked } from './reach.ts'
import type { Record } from './record.ts'
import { describe } from './report.ts'
import type { Room } from './rooms.ts'
import { createTester, type Tester } from './tester.ts'
import { createTrial, prepare, type Test, type Trial } from './trial.ts'

/** A test file that takes more than this many milliseconds is named in the output, because every survivor runs all test files. */
const SLOW_MS = 5_000

export interface RoomRun {
  readonly root: string
  readonly room: Room
  /** The mutants to try, each once. */
  readonly mutants: readonly Mutant[]
  /** The text of each file of the room, by its path below the root. */
  readonly sources: ReadonlyMap<string, string>
  readonly workers: number
  /** Leaves out test files whose path has one of these texts. */
  readonly without: readonly string[]
  readonly record: Record
}

/** Tries mutants of one room (sources with the same tests), several at a time, and records each result at once. */
export async function runRoom({ root, room, mutants, sources, workers, without, record }: RoomRun): Promise<void> {
  if (mutants.length === 0) return
  const testers = Array.from({ length: Math.min(workers, mutants.length) }, () => createTester(root, room))
  try {
    const trials = await trialsOf(testers[0] as Tester)
    // The mutants are tried in a random order, so that a run that is stopped has tried mutants of every file.
    const queue = [...mutants].sort((a, b) => (shuffled(a) < shuffled(b) ? -1 : 1))
    const started = performance.now()
    let done = 0
    await Promise.all(
      testers.map(async (tester) => {
        for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
          const { status, by, name } = await (trials.get(mutant.file) as Trial).try(mutant, tester)
          record.add(mutant, status, by === undefined ? undefined : { test: relative(root, by), ...(name === undefined ? {} : { name }) })
          done += 1
          const seconds = ((performance.now() - started) / 1_000).toFixed(0)
          console.log(`${room.name} ${done}/${mutants.length} ${seconds} s  ${status.padEnd(8)} ${describe(mutant)}`)
        }
      }),
    )
  } finally {
    await Promise.all(testers.map((tester) => tester.stop()))
  }

  function shuffled(mutant: Mutant): string {
    return createHash('sha256').update(keyOf(mutant)).digest('hex')
  }

  async function trialsOf(tester: Tester): Promise<Map<string, Trial>> {
    const trials = new Map<string, Trial>()
    const seen = new Map<string, readonly Test[]>()
    const marks = Object.fromEntries(
      [...sources].filter(([file]) => file.endsWith('.ts')).map(([file, source]) => [join(root, file), marked(join(root, file), source)]),
    )
    for (const file of new Set(mutants.map((mutant) => mutant.file))) {
      const tests = await prepare(root, join(root, file), tester, marks, seen, without)
      trials.set(file, createTrial(join(root, file), sources.get(file) ?? '', tests))
    }
    for (const { path, ms } of [...seen.values()].flat().filter((test) => test.ms > SLOW_MS)) {
      console.log(`${relative(root, path)} takes ${(ms / 1_000).toFixed(0)} s, and every survivor takes as long`)
    }
    return trials
  }
}
