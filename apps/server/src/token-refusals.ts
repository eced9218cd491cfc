import type { ReadMetric } from 'sluice/observe'
import { sayEachMinute } from './say-each-minute.ts'

/** What is known of requests that tried to administer and may not. */
export interface TokenRefusals {
  /** Called for each of them. @param wrong whether it brought a token; without one it may be a person in a browser */
  refused(wrong: boolean): void
  readonly metrics: readonly ReadMetric[]
}

/** Counts them, and says that wrong tokens come: at the first, then at most once a minute. Neither token nor address is written. */
export function tokenRefusals(write: (line: string) => void): TokenRefusals {
  let [wrong, missing] = [0, 0]
  const line = sayEachMinute((count, again) =>
    write(`${count} request${count === 1 ? '' : 's'} with a wrong admin token${again ? ' in the last minute' : ''}, refused with 401`),
  )
  return {
    refused(isWrong) {
      if (!isWrong) return void (missing += 1)
      wrong += 1
      line()
    },
    metrics: [
      {
        name: 'sluice_admin_refused_total',
        help: 'Requests that may not administer, by what they brought: a wrong token, or none.',
        type: 'counter',
        read: () => [
          { labels: { token: 'wrong' }, value: wrong },
          { labels: { token: 'missing' }, value: missing },
        ],
      },
    ],
  }
}
