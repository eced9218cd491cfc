import { describe, it } from 'vitest'
import { slidingWindowLog } from '../../../src/algorithms/sliding-window-log.ts'
import { plays } from './trace.ts'

describe('sliding window log, traces', () => {
  it('lets each charge go one window after it was made', () => {
    plays(
      slidingWindowLog({ limit: 3, window: '1m' }),
      `
      # time        cost   outcome     remaining  retryAfter  resetAfter
      10s           1      allowed     2          -           60s
      50s           2      allowed     0          -           60s
      69s+999999us  1      denied      0          1us         40s+1us
      70s           1      allowed     0          -           60s
      70s           2      denied      0          40s         60s
      70s           3      denied      0          60s         60s
      70s           4      impossible  0          -           60s
      110s          2      allowed     0          -           60s
      10m           0.5    allowed     2          -           60s
      10m           2.5    allowed     0          -           60s
      `,
    )
  })

  it('keeps as many entries as the limit has tokens: smaller charges join the newest', () => {
    plays(
      slidingWindowLog({ limit: 2, window: '10s' }),
      `
      0             0.5    allowed     1          -           10s
      1s            0.5    allowed     1          -           10s
      2s            0.5    allowed     0          -           10s  # the entry of 1s is at 2s now
      10s           1      allowed     0          -           10s
      11s           0.5    denied      0          1s          9s
      12s           1      allowed     0          -           10s
      `,
    )
  })

  it('believes no clock that went back', () => {
    plays(
      slidingWindowLog({ limit: 2, window: '10s' }),
      `
      20s           1      allowed     1          -           10s
      15s           1      allowed     0          -           15s
      19s           1      denied      0          11s         11s
      30s           2      allowed     0          -           10s
      `,
    )
  })
})
