/** HalfSipHash-1-3 with 64 bits of output, as Aumasson and Bernstein describe it. It is a second, plain implementation for the tests. */
export type State = readonly [number, number, number, number]

const turn = (word: number, bits: number): number => ((word << bits) | (word >>> (32 - bits))) >>> 0
const add = (one: number, other: number): number => (one + other) >>> 0

function round([a, b, c, d]: State): State {
  const a1 = add(a, b)
  const b1 = (turn(b, 5) ^ a1) >>> 0
  const c1 = add(c, d)
  const d1 = (turn(d, 8) ^ c1) >>> 0
  const a2 = add(turn(a1, 16), d1)
  const d2 = (turn(d1, 7) ^ a2) >>> 0
  const c2 = add(c1, b1)
  const b2 = (turn(b1, 13) ^ c2) >>> 0
  return [a2, b2, turn(c2, 16), d2]
}

export function keyed(k0: number, k1: number): State {
  return [k0 >>> 0, k1 >>> 0, (0x6c796765 ^ k0) >>> 0, (0x74656462 ^ k1) >>> 0]
}

/** Splits a text into words of two UTF-16 units each. The last word has the length, and the last unit of a text of odd length. */
function words(text: string): number[] {
  const units = [...Array(text.length).keys()].map((index) => text.charCodeAt(index))
  const pairs = units.flatMap((unit, index) =>
    index % 2 === 0 && index + 1 < units.length ? [unit + (units[index + 1] as number) * 65_536] : [],
  )
  return [...pairs, ((units.length % 65_536) * 65_536 + (units.length % 2 === 1 ? (units.at(-1) as number) : 0)) >>> 0]
}

export function absorbed([a, b, c, d]: State, text: string): State {
  return words(text).reduce<State>(
    (state, word) => {
      const [e, f, g, h] = round([state[0], state[1], state[2], (state[3] ^ word) >>> 0])
      return [(e ^ word) >>> 0, f, g, h]
    },
    [a, (b ^ 0xee) >>> 0, c, d],
  )
}

/** The first and the second half, as signed words. */
export function finished([a, b, c, d]: State): [lo: number, hi: number] {
  const first = round(round(round([a, b, (c ^ 0xee) >>> 0, d])))
  const second = round(round(round([first[0], (first[1] ^ 0xdd) >>> 0, first[2], first[3]])))
  return [(first[1] ^ first[3]) | 0, (second[1] ^ second[3]) | 0]
}
