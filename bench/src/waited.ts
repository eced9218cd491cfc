import { scheduleOf } from './processor.ts'

const own = scheduleOf(process.pid)

/**
 * How long this process's main thread was ready to run and had no processor, in milliseconds so far: what to take off a time by the clock on
 * a machine that others use too. Always 0 where the system does not report it (other than Linux).
 */
export function waitedMs(): number {
  return own().waited / 1e6
}
