import { redisStopped } from './redis-stopped.ts'

redisStopped(['deny', 'allow', 'local'], 2_000)
