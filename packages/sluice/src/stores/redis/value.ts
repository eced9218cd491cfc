/**
 * The numbers of a token bucket's value (zero, rest, seen, hold, n, m, burst), as token-bucket.lua packs it: MessagePack integers, the
 * first being the format. Undefined for what is no such value.
 */
export function decodeBucket(value: Uint8Array | null): readonly number[] | undefined {
  const numbers = value === null ? undefined : integers(value)
  if (numbers === undefined || numbers.length !== 8 || numbers[0] !== 1) return undefined
  const [, zero = 0, rest = 0, age = 0, ...others] = numbers
  return [zero, rest, zero + age, ...others]
}

/** Bytes that follow the type byte of an unsigned (cc to cf) or a signed (d0 to d3) integer. */
const WIDTHS = [1, 2, 4, 8]

function integers(bytes: Uint8Array): number[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const numbers: number[] = []
  for (let at = 0; at < bytes.length;) {
    const type = view.getUint8(at)
    at += 1
    if (type < 0x80 || type >= 0xe0) {
      numbers.push(type < 0x80 ? type : type - 0x100)
      continue
    }
    const signed = type >= 0xd0
    const width = WIDTHS[type - (signed ? 0xd0 : 0xcc)]
    if (type < 0xcc || width === undefined || at + width > bytes.length) return undefined
    numbers.push(read(view, at, width, signed))
    at += width
  }
  return numbers
}

function read(view: DataView, at: number, width: number, signed: boolean): number {
  if (width === 8) return Number(signed ? view.getBigInt64(at) : view.getBigUint64(at))
  if (width === 4) return signed ? view.getInt32(at) : view.getUint32(at)
  if (width === 2) return signed ? view.getInt16(at) : view.getUint16(at)
  return signed ? view.getInt8(at) : view.getUint8(at)
}
