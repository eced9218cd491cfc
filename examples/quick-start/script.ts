import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'

/** Calls `rate_limit.lua` until it refuses. The bucket has 2 tokens, and gets one more every 2 seconds. */
const source = readFileSync(new URL('../../quick-start/rate_limit.lua', import.meta.url), 'utf8')
const redis = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379', { autoResendUnfulfilledCommands: false })
const key = `rl:script:${process.pid}`

let sha = await load()
for (let allowed = true; allowed;) {
  const [passed, remaining, retryAfter] = await consume(2, 0.5)
  allowed = passed === 1
  console.log(allowed ? `allowed, ${remaining} left` : `denied, again in ${retryAfter} s`)
}
await redis.del(key)
await redis.quit()

async function load(): Promise<string> {
  return (await redis.script('LOAD', source)) as string
}

/** Takes `cost` tokens. A Redis that was restarted or failed over does not know the script: then it is loaded again. */
async function consume(capacity: number, refillRate: number, cost = 1): Promise<[number, number, number]> {
  const decide = async () => (await redis.evalsha(sha, 1, key, capacity, refillRate, Date.now(), cost)) as [number, number, number]
  try {
    return await decide()
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
    sha = await load()
    return decide()
  }
}
