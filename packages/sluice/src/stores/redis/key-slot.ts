/** The number of slots over which a Redis Cluster spreads keys. */
export const SLOTS = 16_384

/** The table of `createCrc16`. It is made for the first key, because making it at import would take most of the time of the import. */
let crc16: Uint16Array | undefined

/** The table of CRC16 with the polynomial x^16 + x^12 + x^5 + 1 (XMODEM), by byte: redis.io/docs, cluster specification, appendix A. */
function createCrc16(): Uint16Array {
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << 8
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
    return crc
  })
}

/**
 * The Cluster slot of a key. The key must consist of one-byte characters, as the store's names do. The slot depends on the key's hash tag
 * only: the text between the first opening brace and the next closing one. Without a hash tag, or if it is empty, the slot depends on the
 * whole key.
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
