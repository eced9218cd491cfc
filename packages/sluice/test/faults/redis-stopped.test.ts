import { redisStopped } from './redis-stopped.ts'

redisStopped(['deny'], 1_000)
