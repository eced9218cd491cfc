import { xorshift32 } from '../random-order.ts'

const STEPS = 2 ** 32

/**
 * Instants of a Poisson process with `perSecond` arrivals a second: milliseconds from its start, in order, all before `ms`. Each gap is
 * drawn independently from the exponential distribution. The same seed gives the same instants.
 * @throws RangeError for a rate or a time that is not above 0
 */
export function poissonArrivals(perSecond: number, ms: number, seed: number): Float64Array {
  if (!(perSecond > 0 && ms > 0)) throw new RangeError(`arrivals: ${perSecond} a second for ${ms} ms, expected both above 0`)
  const draw = xorshift32(seed)
  const found: number[] = []
  // A draw is never 0, so its logarithm is finite.
  const gap = (): number => (-Math.log(draw() / STEPS) * 1_000) / perSecond
  for (let at = gap(); at < ms; at += gap()) found.push(at)
  return Float64Array.from(found)
}
