/** The numbers of a token bucket's value (zero, rest, seen, hold, n, m, burst), as token-bucket.lua writes it, for inspection. */
export function decodeBucket(value: string | null): readonly number[] | undefined {
  const numbers = value?.split(' ').map(Number)
  if (numbers === undefined || numbers.length !== 8 || numbers[0] !== 1) return undefined
  const [, zero = 0, rest = 0, age = 0, ...others] = numbers
  return [zero, rest, zero + age, ...others]
}
