import { escapeText, unescapeText } from '../../keys/encode.ts'
import { InvalidReply } from './replay.ts'
import type { StateId } from '../store.ts'

/**
 * The id of a cell (one key of one limit) as one text: printable ASCII, with one blank. Its scope (limiter, limit and algorithm) and its key
 * can be read from the text again.
 */
export function cellName({ scope, key }: StateId): string {
  return `${escapeText(scope.text)} ${escapeText(key)}`
}

/** Reads a cell's scope (limiter, limit and algorithm) and key at the beginning of a text, and what is after them. @throws InvalidReply */
export function cellNamed(text: string): { readonly id: StateId; readonly rest: string } {
  const [, scope, key, rest] = /^(\S*) (\S+) (.+)$/.exec(text) ?? []
  if (scope === undefined || key === undefined || rest === undefined) throw new InvalidReply()
  return { id: { scope: { text: unescapeText(scope) }, key: unescapeText(key) }, rest }
}
