import { scheduleOf } from './processor.ts'

const own = scheduleOf(process.pid)

/**
 * Milliseconds for which the main thread of this process was ready to run but had no processor. It is subtracted from wall times, because
 * other processes use the machine too. Always 0 on other systems than Linux.
 */
export function waitedMs(): number {
  return own().waited / 1e6
}
