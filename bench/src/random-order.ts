/** `length` places in `0 .. below - 1`, drawn with xorshift32: the same ones for the same seed, and made before time is measured. */
export function randomOrder(length: number, below: number, seed: number): Uint32Array {
  if (seed >>> 0 === 0) throw new RangeError('xorshift never leaves a seed of 0')
  const order = new Uint32Array(length)
  let state = seed >>> 0
  for (let index = 0; index < length; index += 1) {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    order[index] = state % below
  }
  return order
}
