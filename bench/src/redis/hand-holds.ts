import type { Redis } from 'ioredis'
import { perSecondOf } from '../contestants/contestant.ts'
import { emptyJoined } from '../contestants/floors.ts'
import { nextHeldKey } from '../held-work.ts'
import { openWire } from '../wire.ts'
import type { HandLane, LanePlace, OpenLane } from './lane-input.ts'

const HAND_NAMES = {
  programs: 'two programs by hand, one EVALSHA each',
  empty: 'two calls of an empty program for all that wait',
} as const

const HOLD_MS = 10_000

/**
 * KEYS: the bucket, the record. ARGV: the client's time (ms), tokens a second, burst, milliseconds of the hold. Returns 1 if it holds a
 * token.
 */
const RESERVE = `
local now, rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local level, since = unpack(redis.call('HMGET', KEYS[1], 'tokens', 'at'))
level, since = tonumber(level or burst), tonumber(since or now)
if now > since then level, since = math.min(burst, level + (now - since) * rate / 1000), now end
if level < 1 then return 0 end
redis.call('HSET', KEYS[1], 'tokens', level - 1, 'at', since)
redis.call('PEXPIRE', KEYS[1], 600000)
redis.call('SET', KEYS[2], 1, 'PX', ARGV[4])
return 1
`

/** KEYS: the bucket, the record. ARGV: the tokens that were used. Returns 1 if it has settled the hold. */
const SETTLE = `
local held = redis.call('GETDEL', KEYS[2])
if not held then return 0 end
redis.call('HINCRBYFLOAT', KEYS[1], 'tokens', held - ARGV[1])
return 1
`

/**
 * Opens a lane (a measured limiter) of reservations and settlements without Sluice. `programs`: programs written by hand, which do not
 * handle repeated calls, changed limits, expiry or overage. `empty`: an empty program in two batches, one after the other, which is the
 * least that batches cost.
 */
export async function openHandLane({ byHand, callers }: HandLane, { url, quota, space }: LanePlace): Promise<OpenLane> {
  const passed = (answer: unknown): boolean => answer === 1 || answer === true
  const name = HAND_NAMES[byHand]
  const key = nextHeldKey()
  if (byHand === 'empty') {
    const { wire, invoke, close } = await emptyJoined.open(url, quota, { callers })
    const request = async (own: string): Promise<unknown> => {
      await invoke(own, 0)
      return invoke(own, 0)
    }
    return { lane: { name, callers, invoke: () => request(`${space}:${key()}`), passed, sent: () => wire.sent() }, close: () => close([]) }
  }
  const wire = await openWire(url, 1)
  const client = wire.clients[0] as Redis
  const [reserve, settle] = await Promise.all([RESERVE, SETTLE].map((text) => client.script('LOAD', text) as Promise<string>))
  const rate = perSecondOf(quota)
  let requests = 0
  const request = async (own: string): Promise<unknown> => {
    const keys = [`${space}:${own}`, `${space}:hold:${(requests += 1)}`]
    const held = await client.evalsha(reserve as string, 2, ...keys, Date.now(), rate, quota.burst, HOLD_MS)
    return held === 1 ? client.evalsha(settle as string, 2, ...keys, 0.5) : held
  }
  return { lane: { name, callers, invoke: () => request(key()), passed, sent: () => wire.sent() }, close: () => wire.close() }
}
