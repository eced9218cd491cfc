import { requireForm, TEXT, TEXTS } from '../../errors/options.ts'

/**
 * The candidate with the fewest edits, ignoring case: at most two edits, and at most one for each two characters of the candidate.
 * @throws LimiterError INVALID_OPTIONS
 */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  requireForm('nearest', 'name', name, TEXT)
  requireForm('nearest', 'candidates', candidates, TEXTS)
  let best: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) > 2) continue
    const distance = edits(name.toLowerCase(), candidate.toLowerCase())
    if (distance <= 2 && distance * 2 <= candidate.length && (best === undefined || distance < best.distance))
      best = { candidate, distance }
  }
  return best?.candidate
}

function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const swap = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[b.length] as number
}
