/** One item of a List of structured fields (RFC 9651), read as strictly as section 4.2 of the RFC demands. */
export interface Item {
  readonly value: string | number
  readonly parameters: ReadonlyMap<string, string | number>
}

/**
 * Reads a List of Strings and Integers with parameters. Throws if RFC 9651 refuses the text, or would write the same List in another way.
 */
export function parseList(text: string): Item[] {
  let rest = text
  const take = (pattern: RegExp, what: string): string => {
    const found = pattern.exec(rest)
    if (found === null) throw new Error(`${what} expected at ${JSON.stringify(rest)} of ${JSON.stringify(text)}`)
    rest = rest.slice(found[0].length)
    return found[0]
  }
  const bare = (): string | number => {
    if (!rest.startsWith('"')) return Number(take(/^-?(?:0|[1-9]\d{0,14})(?![\d.])/, 'an Integer'))
    const quoted = take(/^"(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"/, 'a String')
    return quoted.slice(1, -1).replaceAll(/\\(["\\])/g, '$1')
  }
  const items: Item[] = []
  for (;;) {
    const value = bare()
    const parameters = new Map<string, string | number>()
    while (rest.startsWith(';')) {
      // Serialised, there is no space after the semicolon.
      const key = take(/^;[a-z*][a-z\d_.*-]*=/, 'a parameter').slice(1, -1)
      parameters.set(key, bare())
    }
    items.push({ value, parameters })
    if (rest === '') return items
    take(/^, /, 'a comma and a space')
  }
}
