import { unsigned } from './value-bytes.ts'

/** Of the first byte of a record of a hold: what all have, and what those have that are settled, wide, or charged other than held. */
const RECORD = 8
const [SETTLED, WIDE, CHARGED] = [1, 2, 4]
/** How many numbers a state has before those of its parts, and for each part (hold-record.ts). */
const [HEAD, PART] = [3, 5]
/** Numbers below this are short. Marks are written as the time since the charge plus this, in the wide form plus more. */
const [SHORT, HALF, WIDE_HALF] = [2 ** 40, 2 ** 39, 2 ** 52]

/** Whether these bytes are a record of a hold. */
export function isRecordValue([first = 0]: Uint8Array): boolean {
  return (first & ~(SETTLED | WIDE | CHARGED)) === RECORD
}

/** The numbers of a record's codec, from the value that lua/storage/record-value.lua writes; undefined if it is invalid. */
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

/** The value of a record with these numbers, in hexadecimal digits. */
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
