import { textOf, type Value } from '../document/value.ts'

const MAX_LENGTH = 200

export function readName(value: Value | undefined): string | undefined {
  return value?.as(`a text of 1 to ${MAX_LENGTH} characters`, (node) => {
    const text = textOf(node) ?? ''
    return text !== '' && text.length <= MAX_LENGTH && !/\p{Cs}/u.test(text) ? text : undefined
  })
}

/** A name that is unique in the bundle: `/`, `#`, `%` and unprintable characters are percent-encoded, so no two rules collide. */
export function scopedName(policy: string | undefined, rule: string): string {
  return policy === undefined ? encode(rule) : `${encode(policy)}/${encode(rule)}`
}

function encode(name: string): string {
  return name.replace(/[^!$&-.0-[\]-~]/gu, encodeURIComponent)
}
