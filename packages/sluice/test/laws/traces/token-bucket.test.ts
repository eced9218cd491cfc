import { describe, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { plays } from './trace.ts'

describe('token bucket, traces', () => {
  it('lets a burst pass, then the rate, and is full again after a pause', () => {
    plays(
      tokenBucket({ rate: '10/s', burst: 5 }),
      `
      # time        cost   outcome     remaining  retryAfter  resetAfter
      0             1      allowed     4          -           100ms
      0             4      allowed     0          -           500ms
      99999us       1      denied      0          1us         400001us
      100ms         1      allowed     0          -           500ms
      250ms         1      allowed     0          -           450ms
      250ms         0.5    allowed     0          -           500ms
      250ms         6      impossible  0          -           500ms
      1m            5      allowed     0          -           500ms
      `,
    )
  })

  it('keeps what no microsecond can carry: a third of a second, exactly', () => {
    plays(
      tokenBucket({ rate: '3/s', burst: 2 }),
      `
      0             2      allowed     0          -           666667us
      333333us      1      denied      0          1us         333334us
      333334us      1      allowed     0          -           666666us  # two thirds of a microsecond were left over
      666666us      1      denied      0          1us         333334us
      666667us      1      allowed     0          -           666667us
      1s            1      allowed     0          -           666667us
      `,
    )
  })

  it('believes no clock that went back', () => {
    plays(
      tokenBucket({ rate: '10/s', burst: 5 }),
      `
      10s           3      allowed     2          -           300ms
      9s            1      allowed     1          -           1s+400ms
      9s            2      denied      1          1s+100ms    1s+400ms
      10s           1      allowed     0          -           500ms
      `,
    )
  })
})
