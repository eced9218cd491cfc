import type { Micros } from '../time/micros.ts'
import type { MicroTokens } from './algorithm.ts'
import { MICRO } from './decimal.ts'

/**
 * The most equal parts (quanta) of a window. `weighted` adds two products of up to this number times a million, so the sum stays below
 * 2^53.
 */
const MAX_QUANTA = 2_147_483_648
const MAX_PRODUCT = 4_503_599_627_370_496

/**
 * previous * left / quanta, rounded up: what the micro-tokens of the previous window still count when `left` of the current window's
 * `quanta` equal parts are left. Exact if the whole tokens of `previous`, times `left`, are below 2^53; otherwise above every limit that
 * the result is compared with.
 */
export function weighted(previous: MicroTokens, left: number, quanta: number): MicroTokens {
  const tokens = Math.floor(previous / MICRO)
  const product = tokens * left
  const whole = Math.floor(product / quanta)
  const rest = (product - whole * quanta) * MICRO + (previous - tokens * MICRO) * left
  return whole * MICRO + Math.ceil(rest / quanta)
}

/**
 * At most a million equal parts (quanta), for a window of an unknown plan. With so few, `weighted` is exact for every limit. The window
 * begins with a rest shorter than a quantum, in which all quanta are left.
 */
export function roughly(window: Micros): { readonly quantum: Micros; readonly quanta: number } {
  let quantum = 1
  while (window / quantum > MICRO) quantum *= 10
  return { quantum, quanta: Math.floor(window / quantum) }
}

/**
 * The shortest quantum (part of a window) with which `weighted` is exact for the limit: a power of ten of microseconds that divides the
 * window. Otherwise a text that says why.
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
