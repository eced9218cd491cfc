/** What one part of the check found: whether all is well, and what a reader needs to know if not. */
export interface Finding {
  readonly ok: boolean
  readonly text: string
}

/** Fails with one line per problem. */
export function findingOf(problems: readonly string[]): Finding {
  return { ok: problems.length === 0, text: problems.join('\n') }
}
