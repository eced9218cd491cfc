import { systemSecret } from '../time/system.ts'
import type { Run } from './rights/state.ts'

export function freshRun(): Run {
  return Array.from({ length: 4 }, () => Math.floor(systemSecret() * 2 ** 32).toString(16)).join('-')
}
