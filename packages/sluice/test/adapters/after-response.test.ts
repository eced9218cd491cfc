import { createLimiter, tokenBucket } from '../../src/index.ts'
import { manualClock } from '../../src/time/manual.ts'
import { countsAfterResponses } from './after-response.ts'

countsAfterResponses(() => createLimiter({ limit: tokenBucket({ rate: '1/day', burst: 3 }), clock: manualClock() }))
