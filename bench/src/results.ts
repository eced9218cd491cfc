import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from './message.ts'
import type { PartResults, SuiteResults } from './result/suite-result.ts'

/** The results that the documents show, relative to the root of the repository. */
export const PUBLISHED: string = join('bench', 'results')
/** Where a run writes that does not change documents. It is not part of the repository. */
export const LOCAL: string = join('bench', 'results', 'local')

const SUFFIX = '.json'

type Report = (line: string) => void

/**
 * Writes the results of a suite as `SUITE.json`. Parts that were not measured keep their earlier results; `order` is that of the suite's
 * parts, and parts that it no longer has are left out.
 */
export function writeResults(folder: string, results: SuiteResults, order: readonly string[], report?: Report): void {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, results.suite + SUFFIX)
  const earlier = existsSync(file) ? (parsed(file, report)?.parts ?? []) : []
  const found = new Map([...earlier, ...results.parts].map((part): [string, PartResults] => [part.name, part]))
  const parts = order.flatMap((name) => found.get(name) ?? [])
  writeFileSync(file, `${JSON.stringify({ ...results, parts }, undefined, 1)}\n`)
}

/** The results of all suites in a folder; `order` is that of the suites. Files that are not results are reported and left out. */
export function readResults(folder: string, order: readonly string[], report?: Report): SuiteResults[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(SUFFIX)) : []
  const results = names.flatMap((name) => parsed(join(folder, name), report) ?? [])
  return order.flatMap((suite) => results.find((result) => result.suite === suite) ?? [])
}

/** The results in a file. If the file has no results of this format, `report` gets a line, and the result is undefined. */
function parsed(file: string, report: Report = console.error): SuiteResults | undefined {
  try {
    const found = JSON.parse(readFileSync(file, 'utf8')) as Partial<SuiteResults> | null
    if (found?.format === 1 && typeof found.suite === 'string' && Array.isArray(found.parts)) return found as SuiteResults
    report(`not read: ${file}: it has no results of format 1`)
  } catch (error) {
    report(`not read: ${file}: ${error instanceof SyntaxError ? 'it is not valid JSON' : messageOf(error)}`)
  }
  return undefined
}
