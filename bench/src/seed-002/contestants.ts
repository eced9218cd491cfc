import type { ContestantName } from '../memory/contestants/all.ts'

/**
 * The three limiters of the article "Rate limiting in Clojure and Redis Lua" that need no server. Each is followed by Sluice's limiter of
 * the same kind. The first is the baseline.
 */
export const IN_PROCESS: readonly ContestantName[] = [
  'article-bucket',
  'sluice-bucket',
  'article-window',
  'sluice-window',
  'article-queue',
  'sluice-log',
]
