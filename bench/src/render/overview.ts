import type { SuiteResults } from '../result/suite-result.ts'
import { findingsOf, headline, standing, type SuiteFindings } from './findings.ts'
import { tallyText } from './readings.ts'

export const OVERVIEW_HEADING = ['suite', 'first finding', 'ours in all rankings', 'goals', 'wrong', 'not audited', 'disturbed'] as const

/** What was found in a suite, a text for each column but the first. All of it is counted from its rows. */
export function overviewCells(results: SuiteResults): string[] {
  const found = findingsOf(results)
  const readings = results.parts.flatMap((part) => part.readings)
  return [
    headline(found, results.parts),
    standing(found),
    readings.length === 0 ? '' : tallyText(readings),
    found.wrongRows === 0 ? 'none' : `${found.wrongRows} WRONG: ${found.wrong.map((name) => name.trim()).join(', ')}`,
    found.notAudited === 0 ? 'none' : `${found.notAudited} of ${found.rows} rows`,
    disturbedText(found, results.parts.length),
  ]
}

function disturbedText({ disturbed, disturbedParts, rows }: SuiteFindings, parts: number): string {
  if (disturbed + disturbedParts === 0) return 'none'
  return `${disturbedParts} of ${parts} parts${rows === 0 ? '' : `, ${disturbed} of ${rows} rows`}`
}
