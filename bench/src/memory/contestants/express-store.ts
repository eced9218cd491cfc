import { MemoryStore, type Options } from 'express-rate-limit'
import type { MemoryContestant } from './contestant.ts'
import { windowStore } from './window-store.ts'

/** The default store of express-rate-limit. It reads only the window of the options that the middleware passes. */
export const expressStore: MemoryContestant = windowStore('express-rate-limit', (windowMs) => {
  const store = new MemoryStore()
  store.init({ windowMs } as Options)
  return store
})
