import { cold } from './cold.ts'
import { http } from './http.ts'
import { memory } from './memory.ts'
import { open } from './open.ts'
import { postgres } from './postgres.ts'
import { redis } from './redis.ts'
import { seed000 } from './seed-000.ts'
import { scale } from './scale.ts'
import { seed002 } from './seed-002.ts'
import { seed003 } from './seed-003.ts'
import { seed004 } from './seed-004.ts'
import { service } from './service.ts'
import type { Suite } from './suite.ts'

/** All suites, in the order in which a whole run measures and reports them. */
export const SUITES: readonly Suite[] = [seed000, seed002, seed003, seed004, memory, redis, postgres, http, service, scale, open, cold]
