import { memoryStore } from 'sluice'
import type { Opening } from './opening.ts'

/** A store in this process; its states end with the process. */
export function memory(): Opening {
  const store = memoryStore()
  const nothing = async (): Promise<void> => {}
  const keeps = 'limits are gone on restart, and each process has its own'
  return { store, keeps, begin: nothing, discard: nothing, close: () => store.close() }
}
