import { tokensOf } from './mutate/program-tokens.ts'

/** Names that belong to Lua and Redis, and must not change: keywords, libraries and their functions, fields. */
const KEPT: ReadonlySet<string> = new Set(
  [
    'and break do else elseif end false for function if in local nil not or repeat return then true until while',
    'KEYS ARGV redis call pcall sha1hex err cjson decode struct pack unpack',
    'string byte char find format gsub match sub math ceil floor huge max min table concat insert remove ipairs pairs tonumber type',
  ].flatMap((names) => names.split(' ')),
)
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

/**
 * Short names for the names in Lua texts, except those of KEPT. The most frequent names get the shortest ones. A name has the same short
 * name everywhere, also as a field of a table. So texts that share names can be shortened separately, and scopes do not matter.
 */
export function shortNames(texts: Iterable<string>): ReadonlyMap<string, string> {
  const counts = new Map<string, number>()
  for (const text of texts) {
    for (const { kind, text: name } of tokensOf(text, 'lua')) {
      if (kind === 'name' && !KEPT.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  }
  const names = [...counts].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1)).map(([name]) => name)
  const short = shortOnes()
  return new Map(names.map((name) => [name, short.next().value as string]))
}

function* shortOnes(): Generator<string> {
  for (let number = 0; ; number += 1) {
    const [first, last] = [Math.floor(number / LETTERS.length), number % LETTERS.length]
    const name = (first === 0 ? '' : (LETTERS[first - 1] as string)) + (LETTERS[last] as string)
    if (!KEPT.has(name)) yield name
  }
}

/**
 * The text without comments and needless blanks, and with short names. It saves bytes when a program is sent to a server that does not know
 * it.
 */
export function asSent(text: string, short: ReadonlyMap<string, string>): string {
  const lines = text
    .split('\n')
    .map((line) => tokensOf(line, 'lua').reduce((before, token) => joined(before, short.get(token.text) ?? token.text), ''))
  return lines
    .filter((line) => line !== '')
    .map((line) => `${line}\n`)
    .join('')
}

/**
 * Joins a token to a text. A blank stays between tokens that would otherwise become another token: two words, a digit and a dot, two
 * dashes.
 */
function joined(before: string, token: string): string {
  return /\w \w|\d \.|- -/.test(`${before.at(-1) ?? ''} ${token[0] ?? ''}`) ? `${before} ${token}` : before + token
}
