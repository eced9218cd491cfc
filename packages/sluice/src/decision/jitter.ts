/** A public 32-bit hash of text (FNV-1a with a final mix), the same in every process. It spreads retries and gives no security. */
export function hash32(text: string, seed = 0): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193)
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/**
 * Seconds for a Retry-After field. Never earlier than the exact wait, and later by at most half of it plus one second. The value is the
 * same for one identity each time, so that clients denied together do not return together (Fairvisor's Token Bucket).
 * @param retryAfterMs the exact wait in milliseconds
 * @param identity distinguishes clients: subject, address, path and key of the limit
 */
export function jitteredSeconds(retryAfterMs: number, identity: string): number {
  const base = Math.max(1, Math.ceil(retryAfterMs / 1_000))
  const u = hash32(identity, 1) / 2 ** 32
  const v = hash32(identity, 2) / 2 ** 32
  return Math.floor(base * (1 + u / 2) + v)
}
