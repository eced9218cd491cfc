/** Text as HTML, also within quoted attributes. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

/** A part of an address within the page: letters, digits and dashes. */
export function idOf(...names: readonly string[]): string {
  return names.map((name) => name.toLowerCase().replaceAll(/[^a-z\d]+/g, '-')).join('--')
}
