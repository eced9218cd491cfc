import type { ContestantName } from '../memory/contestants/all.ts'

/** The article's three limiters in process, each followed by its counterpart in Sluice. The first is the baseline. */
export const IN_PROCESS: readonly ContestantName[] = [
  'article-bucket',
  'sluice-bucket',
  'article-window',
  'sluice-window',
  'article-queue',
  'sluice-log',
]
