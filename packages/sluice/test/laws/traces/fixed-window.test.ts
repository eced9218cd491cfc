import { describe, it } from 'vitest'
import { fixedWindow } from '../../../src/algorithms/fixed-window.ts'
import { plays } from './trace.ts'

describe('fixed window, traces', () => {
  it('counts down, denies until the reset, and starts anew at it', () => {
    plays(
      fixedWindow({ limit: 3, window: '1m' }),
      `
      # time        cost   outcome     remaining  retryAfter  resetAfter
      10s           1      allowed     2          -           50s
      10s           1      allowed     1          -           50s
      59s+999999us  2      denied      1          1us         1us
      59s+999999us  1      allowed     0          -           1us
      60s           3      allowed     0          -           60s
      61s           0.5    denied      0          59s         59s
      61s           3.1    impossible  0          -           59s
      3m            2.5    allowed     0          -           1m
      3m            0.5    allowed     0          -           1m
      `,
    )
  })

  it('starts at the first charge with first', () => {
    plays(
      fixedWindow({ limit: 3, window: '1m', align: 'first' }),
      `
      10s           2      allowed     1          -           60s
      69s+999999us  2      denied      1          1us         1us
      70s           3      allowed     0          -           60s
      2h            1      allowed     2          -           60s
      `,
    )
  })

  it('ends somewhere else for each key with key', () => {
    const limit = fixedWindow({ limit: 3, window: '1m', align: 'key' })
    const first = `
      0             3      allowed     0          -           15s
      14s+999999us  1      denied      0          1us         1us
      15s           1      allowed     2          -           60s`
    plays(limit, first, 2 ** 30)
    const second = `
      0             3      allowed     0          -           45s
      45s           1      allowed     2          -           60s`
    plays(limit, second, 3 * 2 ** 30)
  })

  it('lets the limit grow through the ramp, in this window and the next', () => {
    plays(
      fixedWindow({ limit: 10, window: '1m', ramp: '20s' }),
      `
      0             1      allowed     0          -           60s  # one token at once
      0             1      denied      0          4s          60s
      4s            1      allowed     0          -           56s
      10s           3      allowed     0          -           50s
      10s           6      denied      0          62s         50s  # 5 + 6 is above the limit: 6 need 12s of the next ramp
      19s+999999us  5      denied      4          1us         40s+1us
      20s           5      allowed     0          -           40s
      59s           1      denied      0          1s          1s
      60s           1      allowed     0          -           60s
      `,
    )
  })

  it('believes no clock that went back', () => {
    plays(
      fixedWindow({ limit: 2, window: '1m' }),
      `
      61s           2      allowed     0          -           59s
      59s           1      denied      0          61s         61s
      120s          2      allowed     0          -           60s
      `,
    )
  })
})
