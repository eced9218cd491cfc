import { expect, it } from 'vitest'
import { concurrency, fixedWindow, slidingWindowCounter, tokenBucket } from 'sluice'
import { limitFacts } from 'sluice/policy'
import { limitText } from '../src/policy/limit-text.ts'

it.each([
  [tokenBucket({ rate: '100/min', burst: 20 }), 'token-bucket: 100 a minute, burst 20, window 12 s'],
  [tokenBucket({ rate: '10/h', burst: 20 }), 'token-bucket: 10 an hour, burst 20, window 2 h'],
  [tokenBucket({ rate: '1000/s', burst: 100 }), 'token-bucket: 1000 a second, burst 100, window 100 ms'],
  [tokenBucket({ rate: '5/d', burst: 0.5 }), 'token-bucket: 5 a day, burst 0.5, window 144 min'],
  [tokenBucket({ rate: '3/w', burst: 3 }), 'token-bucket: 3 a week, burst 3, window 7 d'],
  [tokenBucket({ rate: '1/30d', burst: 1 }), 'token-bucket: 1 every 30 d, burst 1, window 30 d'],
  [fixedWindow({ limit: 5, window: '1500ms' }), 'fixed-window: 5 in 1.5 s'],
  [slidingWindowCounter({ limit: 100, window: '90m' }), 'sliding-window-counter: 100 in 90 min'],
  [concurrency({ limit: 3, holdMs: 30_000 }), 'concurrency: 3 at once, each for at most 30 s'],
])('%# a limit is described as %s', (limit, text) => expect(limitText(limitFacts(limit))).toBe(text))
