import { unsigned } from './value-bytes.ts'

/** Bits of the first byte. All records have RECORD. CHARGED: a limit was charged another amount than was held. */
const RECORD = 8
const [SETTLED, WIDE, CHARGED] = [1, 2, 4]
/** The codec (hold-record.ts) has HEAD numbers, then PART numbers for each limit that was charged. */
const [HEAD, PART] = [3, 5]
/**
 * Numbers from SHORT on need the wide form. A mark, an instant that settlement needs, is stored as its distance from the charge plus HALF,
 * in the wide form WIDE_HALF, so that it is not negative.
 */
const [SHORT, HALF, WIDE_HALF] = [2 ** 40, 2 ** 39, 2 ** 52]

export function isRecordValue([first = 0]: Uint8Array): boolean {
  return (first & ~(SETTLED | WIDE | CHARGED)) === RECORD
}

/** Undefined if the value is invalid. */
export function recordNumbers(bytes: Uint8Array): readonly number[] | undefined {
  const kind = bytes[0] as number
  const isWide = (kind & WIDE) !== 0
  const width = isWide ? 7 : 5
  const [from, step] = [8 + width, 4 + ((kind & CHARGED) === 0 ? 2 : 4) * width]
  if (bytes.length < from || (bytes.length - from) % step > 0) return undefined
  const at = unsigned(bytes, 1, 7)
  const numbers = [at, at + unsigned(bytes, 8, width), kind & SETTLED]
  for (let part = from; part < bytes.length; part += step) {
    const number = (index: number): number => unsigned(bytes, part + 4 + index * width, width)
    const [held, code] = [number(0), number(1)]
    const mark = code === 0 ? 0 : at + code - (isWide ? WIDE_HALF : HALF)
    numbers.push(unsigned(bytes, part, 4), held, ...((kind & CHARGED) === 0 ? [held, 0] : [number(2), number(3)]), mark)
  }
  return numbers
}

/** In hexadecimal digits. */
export function recordDigits(numbers: readonly number[]): string {
  const [at = 0, expires = 0, settled = 0] = numbers
  const parts = Array.from({ length: (numbers.length - HEAD) / PART }, (_, index) => {
    const [name = 0, held = 0, charged = 0, overage = 0, mark = 0] = numbers.slice(HEAD + index * PART)
    return { name, held, charged, overage, mark }
  })
  const isLong = (mark: number): boolean => mark !== 0 && (mark <= at - HALF || mark >= at + HALF)
  const isWide =
    expires - at >= SHORT || parts.some(({ held, charged, overage, mark }) => Math.max(held, charged, overage) >= SHORT || isLong(mark))
  const isCharged = parts.some(({ held, charged, overage }) => charged !== held || overage > 0)
  const bytes = (number: number, width = isWide ? 7 : 5): string =>
    BigInt(number)
      .toString(16)
      .padStart(2 * width, '0')
  const codeOf = (mark: number): number => (mark === 0 ? 0 : mark - at + (isWide ? WIDE_HALF : HALF))
  const digits = parts.map(({ name, held, charged, overage, mark }) => {
    const first = bytes(name, 4) + bytes(held) + bytes(codeOf(mark))
    return isCharged ? first + bytes(charged) + bytes(overage) : first
  })
  const kind = RECORD + (settled === 0 ? 0 : SETTLED) + (isWide ? WIDE : 0) + (isCharged ? CHARGED : 0)
  return bytes(kind, 1) + bytes(at, 7) + bytes(expires - at) + digits.join('')
}
