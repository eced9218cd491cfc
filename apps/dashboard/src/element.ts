/** The element with an id. Throws if no element has it: the script and the page are served together, so a missing element is a bug. */
export function element(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  return found
}

export function show(id: string, shown = true): void {
  element(id).hidden = !shown
}

/** Sets the text of an element only if it differs, because screen readers announce each change of a status. */
export function setText(id: string, text: string): void {
  const found = element(id)
  if (found.textContent !== text) found.textContent = text
}

export function make<Name extends keyof HTMLElementTagNameMap>(name: Name, className = '', text = ''): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  if (className !== '') made.className = className
  made.textContent = text
  return made
}

/** A row of a table whose first cell is its header. */
export function row(first: string, ...more: readonly string[]): HTMLTableRowElement {
  const made = make('tr')
  const title = make('th', '', first)
  title.scope = 'row'
  made.append(title, ...more.map((text) => make('td', '', text)))
  return made
}

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })

export function count(number: number): string {
  return whole.format(number)
}

/** A number with at most one decimal, and short if it is large: `12`, `3.4`, `12K`. */
export function rate(number: number): string {
  return short.format(number)
}
