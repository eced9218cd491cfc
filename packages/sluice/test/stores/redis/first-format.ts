/** A bucket as the first format has it: MessagePack integers of 64 bits, but for the format itself. */
export function inFirstFormat(...numbers: readonly number[]): Buffer {
  const parts = numbers.map((number) => {
    const bytes = Buffer.alloc(9)
    bytes.writeUInt8(number < 0 ? 0xd3 : 0xcf)
    bytes.writeBigInt64BE(BigInt(number), 1)
    return bytes
  })
  return Buffer.concat([Buffer.from([1]), ...parts])
}
