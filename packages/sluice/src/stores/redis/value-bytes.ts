/** The most significant byte is first. Exact below 2^53. */
export function unsigned(bytes: Uint8Array, from: number, width: number): number {
  let number = bytes[from] as number
  for (let at = from + 1; at < from + width; at += 1) number = number * 256 + (bytes[at] as number)
  return number
}
