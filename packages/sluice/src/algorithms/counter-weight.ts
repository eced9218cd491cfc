import type { Micros } from '../time/micros.ts'
import type { MicroTokens } from './algorithm.ts'
import { MICRO } from './decimal.ts'

/**
 * The most quanta (equal parts) of a window. `weighted` adds two products, each of a number below this one and a million. So the sum stays
 * below 2^53.
 */
const MAX_QUANTA = 2_147_483_648
const MAX_PRODUCT = 4_503_599_627_370_496

/**
 * What the `previous` micro-tokens (those of the previous window) still count in a sliding window. `left` of the present window's `quanta`
 * equal parts are left. So the result is previous * left / quanta, rounded up. Divides the whole tokens first, then their remainder
 * together with the micro-tokens. Exact while the whole tokens of `previous` times `quanta` stay below 2^53. Beyond that bound the result
 * is above every limit whose window may have so many quanta. That is enough, because callers only compare the result with a limit.
 */
export function weighted(previous: MicroTokens, left: number, quanta: number): MicroTokens {
  const tokens = Math.floor(previous / MICRO)
  const product = tokens * left
  const whole = Math.floor(product / quanta)
  const rest = (product - whole * quanta) * MICRO + (previous - tokens * MICRO) * left
  return whole * MICRO + Math.ceil(rest / quanta)
}

/**
 * Divides a window whose plan is not known into at most a million quanta (equal parts). With so few, `weighted` is exact for every limit.
 * Quanta are counted from the end of the window. A rest at its start that is shorter than one quantum belongs to none. Callers round the
 * number of quanta that are left up.
 */
export function roughly(window: Micros): { readonly quantum: Micros; readonly quanta: number } {
  let quantum = 1
  while (window / quantum > MICRO) quantum *= 10
  return { quantum, quanta: Math.floor(window / quantum) }
}

/**
 * The shortest quantum (part of a window) with which `weighted` is exact for the limit. A quantum is a power of ten of microseconds, and
 * the window is a multiple of it. If no such quantum exists, a text that says why.
 */
export function quantumOf(limit: MicroTokens, window: Micros): Micros | string {
  const tokens = Math.ceil(limit / MICRO)
  let quantum = 1
  while (window / quantum > MAX_QUANTA || tokens * (window / quantum) >= MAX_PRODUCT) {
    if (window % (quantum * 10) !== 0) return refusal(window, quantum)
    quantum *= 10
  }
  return quantum
}

function refusal(window: Micros, quantum: Micros): string {
  const quanta = window / quantum
  let coarse = quantum
  while (window / coarse > MAX_QUANTA) coarse *= 10
  if (coarse > quantum) return `the window has too many digits; round it to a multiple of ${coarse} us`
  return `the largest limit in this window is ${Math.floor((MAX_PRODUCT - 1) / quanta)}; a larger one needs a window of fewer digits`
}
