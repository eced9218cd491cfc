import fc from 'fast-check'

const SURROGATES = 0xd800
const COUNT = 0x800

/** Code points without surrogates, by their place in that list. */
const codePoint = fc.integer({ min: 0, max: 0x10ffff - COUNT }).map(
  (place) => String.fromCodePoint(place < SURROGATES ? place : place + COUNT),
  (text) => {
    const point = typeof text === 'string' ? (text.codePointAt(0) ?? -1) : -1
    if (point < 0 || text !== String.fromCodePoint(point)) throw new TypeError('not a code point')
    return point < SURROGATES ? point : point - COUNT
  },
)

/**
 * Random texts of any code points. fast-check's unit `binary` draws the same texts, but first makes a table of all 1.1 million code points.
 * This takes over a second in each worker process, and the table stays in memory.
 */
export function anyText(constraints: fc.StringSharedConstraints = {}): fc.Arbitrary<string> {
  return fc.string({ ...constraints, unit: codePoint })
}
