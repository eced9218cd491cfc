/** The result of one part of the check: whether it passed, and a text that explains a failure. */
export interface Finding {
  readonly ok: boolean
  readonly text: string
}

/** A finding with one line for each problem; it passes without problems. */
export function findingOf(problems: readonly string[]): Finding {
  return { ok: problems.length === 0, text: problems.join('\n') }
}
