import { type PrivateSentinel, type SentinelOptions, startSentinels } from './sentinel-servers.ts'
import { redisProgram } from './private-redis.ts'

export { type PrivateSentinel, SENTINEL_NAME } from './sentinel-servers.ts'

/** A primary and its replica, watched by sentinels, on free ports. */
export const privateSentinel = async (options?: SentinelOptions): Promise<PrivateSentinel> => startSentinels(redisProgram(), options)
