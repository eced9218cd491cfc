import type { Micros } from '../time/micros.ts'
import type { MicroTokens } from './algorithm.ts'
import { MICRO } from './decimal.ts'

/** Parts of a window: the rest of a division by so many, times a million, twice, stays below 2^53. */
const MAX_QUANTA = 2_147_483_648
const LARGEST_PRODUCT = 4_503_599_627_370_496

/**
 * ceil(previous * left / quanta), exact while whole tokens times quanta stay below 2^53: whole tokens first, then what they
 * leave together with the micro-tokens. Beyond that the result is above every limit of these quanta, and only compared.
 */
export function weighted(previous: MicroTokens, left: number, quanta: number): MicroTokens {
  const tokens = Math.floor(previous / MICRO)
  const product = tokens * left
  const whole = Math.floor(product / quanta)
  const rest = (product - whole * quanta) * MICRO + (previous - tokens * MICRO) * left
  return whole * MICRO + Math.ceil(rest / quanta)
}

/** Parts of a window whose plan is not known: at most a million, the last one cut off. Rounded up, they carry every limit. */
export function roughly(window: Micros): { readonly quantum: Micros; readonly quanta: number } {
  let quantum = 1
  while (window / quantum > MICRO) quantum *= 10
  return { quantum, quanta: Math.floor(window / quantum) }
}

/** The finest power of ten of microseconds that divides the window and carries the limit, or why there is none. */
export function quantumOf(limit: MicroTokens, window: Micros): Micros | string {
  const tokens = Math.ceil(limit / MICRO)
  let quantum = 1
  while (window / quantum > MAX_QUANTA || tokens * (window / quantum) >= LARGEST_PRODUCT) {
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
  return `the largest limit in this window is ${Math.floor((LARGEST_PRODUCT - 1) / quanta)}; a larger one needs a window of fewer digits`
}
