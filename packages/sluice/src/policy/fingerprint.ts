/** A 64-bit hash of a policy's text, as 16 hexadecimal digits (FNV-1a twice). It identifies the text and is not cryptographic. */
export function fingerprint(text: string): string {
  return mixed(text, 0x811c9dc5) + mixed(text, 0x9e3779b9)
}

function mixed(text: string, seed: number): string {
  let hash = seed
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
    hash ^= hash >>> 15
  }
  return (Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) >>> 0).toString(16).padStart(8, '0')
}
