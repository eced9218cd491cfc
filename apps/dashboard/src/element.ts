/** The element with an id; the page is served whole, so a missing one is a mistake of ours. */
export function element(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  return found
}
