/** Makes a generator of whole numbers from 1 to 2^32 - 1 (xorshift32). The same seed gives the same numbers. */
export function xorshift32(seed: number): () => number {
  // A small seed would give small first numbers, so it is spread over the whole range first.
  let state = Math.imul(seed, 0x9e37_79b1) >>> 0
  if (state === 0) throw new RangeError('xorshift never leaves a seed of 0')
  return () => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state
  }
}

/**
 * `length` random indexes from 0 to `below` - 1 (xorshift32). The same seed gives the same indexes. They are drawn before the measurement.
 */
export function randomOrder(length: number, below: number, seed: number): Uint32Array {
  const draw = xorshift32(seed)
  return Uint32Array.from({ length }, () => draw() % below)
}
