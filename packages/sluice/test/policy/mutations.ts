import fc from 'fast-check'
import { anyText } from '../any-text.ts'

/** What people and attackers write into policies. */
const WORDS: readonly string[] = `rules rate burst tiers when key cost exempt overrides sample until limit window match
0 -5 1 1e309 NaN .inf 0x10 1.0000001 9007199254740993 10/s 0/s 1/fortnight "" null true [ ] { } : , # " ' | > &a *a !!str << ? % ---
__proto__ constructor toString ip:address jwt:plan path: /a/** /*`
  .split(/\s/)
  .concat('\n', '\n  ', '    ', '\t', ': ', '- ', '&a ', '<<: ', '---\n', 'a: &a [*a]', '\0', '\ud800', '\u2028', '\ufeff')

interface Edit {
  readonly at: number
  readonly length: number
  readonly text: string
}

/**
 * Makes texts from the given ones by a few edits. An edit removes, inserts, replaces or doubles a piece, or puts one word in place of
 * another.
 */
export function mutations(texts: readonly string[]): fc.Arbitrary<string> {
  const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
  const vocabulary = [...new Set([...WORDS, ...texts.flatMap((text) => text.match(WORD) ?? [])])]
  const edit: fc.Arbitrary<Edit> = fc.record({
    at: place,
    length: fc.constantFrom(0, 0, 1, 2, 5, 20),
    text: fc.oneof(fc.constant(''), fc.constantFrom(...WORDS), anyText({ maxLength: 3 })),
  })
  const swap = fc.record({ at: place, word: fc.constantFrom(...vocabulary) })
  const change = fc.oneof({ arbitrary: edit, weight: 1 }, { arbitrary: swap, weight: 2 })
  return fc
    .tuple(fc.constantFrom(...texts), fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([text, changes]) => changes.reduce((mutant, one) => ('word' in one ? swapped(mutant, one) : edited(mutant, one)), text))
}

const WORD = /[\w./:*-]+/g

function edited(text: string, { at, length, text: inserted }: Edit): string {
  const start = Math.floor(at * text.length)
  return text.slice(0, start) + inserted + text.slice(start + length)
}

function swapped(text: string, { at, word }: { readonly at: number; readonly word: string }): string {
  const words = [...text.matchAll(WORD)]
  const chosen = words[Math.floor(at * words.length)]
  return chosen === undefined ? text : text.slice(0, chosen.index) + word + text.slice(chosen.index + chosen[0].length)
}
