import { describe, it } from 'vitest'
import { slidingWindowCounter } from '../../../src/algorithms/sliding-window-counter.ts'
import { plays } from './trace.ts'

describe('sliding window counter, traces', () => {
  it('lets the previous window go evenly', () => {
    plays(
      slidingWindowCounter({ limit: 10, window: '10s' }),
      `
      # time        cost   outcome     remaining  retryAfter  resetAfter
      9s            10     allowed     0          -           11s
      10s           1      denied      0          1s          10s  # 10 of the previous window count in full
      10s+999999us  1      denied      0          1us         9s+1us
      11s           1      allowed     0          -           19s
      15s           4      allowed     0          -           15s
      15s           5      denied      0          5s          15s  # at the end of this window 5 + 5 fit
      20s           5      allowed     0          -           20s
      20s           11     impossible  0          -           20s
      20s           10     denied      0          20s         20s
      40s           10     allowed     0          -           20s
      `,
    )
  })

  it('distinguishes one more token from a whole reset', () => {
    plays(
      slidingWindowCounter({ limit: '2.5', window: '1s' }),
      `
      0             2.5    allowed     0          -           2s
      1s            2      denied      0          800ms       1s
      1s+800ms      2      allowed     0          -           1s+200ms
      1s+999999us   0.5    denied      0          1us         1s+1us  # a millionth of the previous window still counts
      2s            0.5    allowed     0          -           2s
      `,
    )
  })

  it('believes no clock that went back', () => {
    plays(
      slidingWindowCounter({ limit: 2, window: '10s' }),
      `
      9s            1      allowed     1          -           11s
      11s           1      allowed     0          -           19s
      9s            1      denied      0          11s         21s
      `,
    )
  })
})
