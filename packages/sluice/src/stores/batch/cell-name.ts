import { escapeText, unescapeText } from '../../keys/encode.ts'
import { InvalidReply } from './replay.ts'
import type { StateId } from '../store.ts'

/** Scope and key as one text of printable ASCII with one blank, from which both can be read again. */
export function cellName({ scope, key }: StateId): string {
  return `${escapeText(scope.text)} ${escapeText(key)}`
}

/** Reads a `cellName` at the start of a text, and what is after it. @throws InvalidReply */
export function cellNamed(text: string): { readonly id: StateId; readonly rest: string } {
  const [, scope, key, rest] = /^(\S*) (\S+) (.+)$/.exec(text) ?? []
  if (scope === undefined || key === undefined || rest === undefined) throw new InvalidReply()
  return { id: { scope: { text: unescapeText(scope) }, key: unescapeText(key) }, rest }
}
