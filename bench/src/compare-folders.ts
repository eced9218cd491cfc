import { compareRuns } from './compare-runs.ts'
import { readResults } from './results.ts'

/** The exit code of `compare`, with what it prints; an empty text is not printed. */
export interface FoldersCompared {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Compares the results of these suites in two runs. Exit codes: 0 if both runs rank alike, 1 if they do not, 3 if nothing was compared. */
export function compareFolders(folders: readonly [before: string, after: string], suites: readonly string[]): FoldersCompared {
  const mistakes: string[] = []
  const [before = [], after = []] = folders.map((folder) => {
    const unreadable: string[] = []
    const found = readResults(folder, suites, (line) => unreadable.push(line))
    // If a single file cannot be read, nothing is compared, because its results would be missing silently.
    mistakes.push(...unreadable, ...(found.length + unreadable.length === 0 ? [`${folder}: there are no results`] : []))
    return found
  })
  if (mistakes.length > 0) return { code: 3, out: '', err: mistakes.join('\n') }
  const { text, pairs, alike } = compareRuns(before, after)
  if (pairs > 0) return { code: alike ? 0 : 1, out: text, err: '' }
  return { code: 3, out: text, err: 'nothing was compared: no two rows with a spread are in a ranking of both runs' }
}
