/** FNV-1a with a final mix, the same in every process. For spreading load, not for security. */
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

/** For Retry-After: rounded up, at least 1. */
export function wholeSeconds(retryAfterMs: number): number {
  return Math.max(1, Math.ceil(retryAfterMs / 1_000))
}

/**
 * With w, the wait in seconds, rounded up: at least w, and at most 1.5 * w + 1. Differs by identity, so that clients denied together do not
 * return together (document: Fairvisor's Token Bucket).
 * @param identity subject, address, path and key of the limit
 */
export function jitteredSeconds(retryAfterMs: number, identity: string): number {
  const base = wholeSeconds(retryAfterMs)
  const u = hash32(identity, 1) / 2 ** 32
  const v = hash32(identity, 2) / 2 ** 32
  return Math.floor(base * (1 + u / 2) + v)
}
