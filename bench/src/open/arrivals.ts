import { xorshift32 } from '../random-order.ts'

const STEPS = 2 ** 32

/**
 * Instants of a Poisson process of so many arrivals a second, in milliseconds from its start and in order, all before `ms`: each gap is
 * drawn from the exponential distribution, whatever came before. The same ones for the same seed.
 * @throws RangeError for a rate or a time that is not above 0
 */
export function poissonArrivals(perSecond: number, ms: number, seed: number): Float64Array {
  if (!(perSecond > 0 && ms > 0)) throw new RangeError(`arrivals: ${perSecond} a second for ${ms} ms, expected both above 0`)
  const draw = xorshift32(seed)
  const found: number[] = []
  // A draw is never 0, so that its logarithm is a number.
  const gap = (): number => (-Math.log(draw() / STEPS) * 1_000) / perSecond
  for (let at = gap(); at < ms; at += gap()) found.push(at)
  return Float64Array.from(found)
}
