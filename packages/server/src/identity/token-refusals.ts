import type { ReadMetric } from 'sluice/observe'

/** Counters of requests that were refused administration. */
export interface TokenRefusals {
  /** Called for each of them. @param wrong whether it had a token; a request without one may come from a person in a browser */
  refused(wrong: boolean): void
  readonly metrics: readonly ReadMetric[]
}

/**
 * Creates the counters.
 * @param onWrong called for each wrong token; a warning contains neither the token nor an address
 */
export function tokenRefusals(onWrong: () => void): TokenRefusals {
  let [wrong, missing] = [0, 0]
  return {
    refused(isWrong) {
      if (!isWrong) return void (missing += 1)
      wrong += 1
      onWrong()
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
