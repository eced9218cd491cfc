import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { keyOf, type Mutant } from './mutants.ts'
import type { Status } from './report.ts'

/**
 * The results of earlier runs. The result of a noticed mutant is valid while its file is unchanged. That of a survivor is valid only while
 * all code and tests are unchanged.
 */
export interface Record {
  statusOf(mutant: Mutant): Status | undefined
  noticedBy(mutant: Mutant): NoticedBy | undefined
  add(mutant: Mutant, status: Status, by?: NoticedBy): void
}

/** The test file that noticed a mutant. `name` is the test in it, if that test notices the mutant alone. */
export interface NoticedBy {
  readonly test: string
  readonly name?: string
}

interface Entry {
  readonly status: Status
  readonly source: string
  readonly tests: string
  readonly by?: NoticedBy
}

/**
 * @param file the file of the record; it is written after each mutant, so that a run may be stopped at any time
 * @param sources the text of each mutated file
 * @param tests the text of everything that decides whether a mutant is noticed
 */
export function openRecord(file: string, sources: ReadonlyMap<string, string>, tests: readonly string[], fresh: boolean): Record {
  const digests = new Map([...sources].map(([name, text]) => [name, digestOf([text])]))
  const all = digestOf(tests)
  const entries = new Map<string, Entry>(fresh ? [] : read(file))
  return {
    statusOf(mutant) {
      const entry = entries.get(keyOf(mutant))
      if (entry === undefined || entry.source !== digests.get(mutant.file)) return undefined
      return entry.status === 'survived' && entry.tests !== all ? undefined : entry.status
    },
    noticedBy: (mutant) => entries.get(keyOf(mutant))?.by,
    add(mutant, status, by) {
      const entry = { status, source: digests.get(mutant.file) ?? '', tests: all }
      entries.set(keyOf(mutant), by === undefined ? entry : { ...entry, by })
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, JSON.stringify([...entries]))
    },
  }
}

function read(file: string): [string, Entry][] {
  if (!existsSync(file)) return []
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as [string, Entry][]
  } catch {
    // A write was cut off. All mutants are tried again.
    return []
  }
}

function digestOf(texts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(text).update('\0')
  return hash.digest('base64url').slice(0, 16)
}
