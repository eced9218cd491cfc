import { MemoryStore, type HonoConfigType } from 'hono-rate-limiter'
import type { MemoryContestant } from './contestant.ts'
import { windowStore } from './window-store.ts'

/** The default store of hono-rate-limiter. It reads only the window of the options that the middleware passes. */
export const honoStore: MemoryContestant = windowStore('hono-rate-limiter', (windowMs) => {
  const store = new MemoryStore()
  store.init({ windowMs } as HonoConfigType)
  return store
})
