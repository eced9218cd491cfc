/** Whole numbers from 1 to 2^32 - 1 (xorshift32): the same ones for the same seed. */
export function xorshift32(seed: number): () => number {
  // Small seeds begin with small numbers: they are spread over the whole range first.
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

/** `length` places in `0 .. below - 1`, drawn with xorshift32: the same ones for the same seed, and made before time is measured. */
export function randomOrder(length: number, below: number, seed: number): Uint32Array {
  const draw = xorshift32(seed)
  return Uint32Array.from({ length }, () => draw() % below)
}
