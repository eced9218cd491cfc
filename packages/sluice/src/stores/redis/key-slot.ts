/** The number of slots of a Redis Cluster. */
export const SLOTS = 16_384

/** Made for the first key: at import it would take most of the import's time. */
let crc16: Uint16Array | undefined

/** CRC16 by byte, with the polynomial x^16 + x^12 + x^5 + 1 (XMODEM): redis.io/docs, cluster specification, appendix A. */
function createCrc16(): Uint16Array {
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << 8
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
    return crc
  })
}

/**
 * The key must have one-byte characters. If it has a non-empty hash tag (the text between the first `{` and the next `}`), only the tag
 * counts.
 */
export function keySlot(key: string): number {
  const open = key.indexOf('{') + 1
  const close = open === 0 ? -1 : key.indexOf('}', open)
  const [from, to] = close > open ? [open, close] : [0, key.length]
  const table = (crc16 ??= createCrc16())
  let crc = 0
  for (let index = from; index < to; index += 1) {
    crc = ((crc << 8) ^ (table[((crc >> 8) ^ key.charCodeAt(index)) & 0xff] as number)) & 0xffff
  }
  return crc % SLOTS
}
