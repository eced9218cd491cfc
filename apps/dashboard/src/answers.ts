import { element } from './element.ts'

/** Fields that are about limits, in the order a reader wants them. */
const FIELDS = [
  'ratelimit',
  'ratelimit-policy',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'retry-after',
  'content-type',
  'cache-control',
]

/** One mark per answer, in order, and what they add up to. */
export function showAnswers(statuses: readonly number[]): void {
  const list = element('answers')
  if (statuses.length === 0) list.replaceChildren()
  const last = statuses.at(-1)
  if (last !== undefined) {
    const mark = document.createElement('li')
    mark.textContent = String(last)
    mark.className = last < 400 ? 'passed' : 'refused'
    list.append(mark)
  }
  const passed = statuses.filter((status) => status < 400).length
  element('counts').textContent =
    statuses.length === 0 ? 'Sending.' : `${statuses.length} sent: ${passed} passed, ${statuses.length - passed} refused.`
}

export function showHeaders(path: string, answer: Response): void {
  element('status-line').textContent = `GET ${path} → ${answer.status} ${answer.statusText}`
  const rows = FIELDS.filter((name) => answer.headers.has(name)).map((name) => {
    const row = document.createElement('tr')
    const title = document.createElement('th')
    title.scope = 'row'
    title.textContent = name
    const value = document.createElement('td')
    value.textContent = answer.headers.get(name)
    row.append(title, value)
    return row
  })
  element('headers').replaceChildren(...rows)
}
