import type { TokenResult } from './verifier.ts'

/** Counters of accepted and rejected tokens, by result, for a scrape; an identity is never a label. */
export interface TokenCounts {
  count(result: TokenResult): void
  /** The text exposition format; empty before the first token. */
  text(): string
}

const NAME = 'sluice_tokens_total'

export function tokenCounts(): TokenCounts {
  const counts = new Map<TokenResult, number>()
  return {
    count: (result) => void counts.set(result, (counts.get(result) ?? 0) + 1),
    text() {
      if (counts.size === 0) return ''
      const lines = [...counts].map(([result, count]) => `${NAME}{result="${result}"} ${count}`)
      return `# HELP ${NAME} Bearer tokens by what became of them; all but accepted and cached count as no token.\n# TYPE ${NAME} counter\n${lines.join('\n')}\n`
    },
  }
}
