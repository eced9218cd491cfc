import { element, make, row, setText, show } from './element.ts'

const REQUESTS = 60
/** Header fields that report limits, in the order in which the page shows them. */
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

/** Shows the button that sends requests to an endpoint of the demo. A service that is not the demo has no endpoints to send to. */
export function startRequests(endpoints: readonly string[]): void {
  const select = element('endpoint') as HTMLSelectElement
  select.replaceChildren(...endpoints.map((path) => new Option(path, path)))
  const button = element('send')
  button.addEventListener('click', () => {
    if (button.getAttribute('aria-disabled') !== 'true') void sendAll(button, select.value)
  })
  show('try', endpoints.length > 0)
}

/** Sends the requests one after the other, so that the answers are in the order of the decisions. */
async function sendAll(button: HTMLElement, path: string): Promise<void> {
  // `disabled` would take the focus from the button.
  button.setAttribute('aria-disabled', 'true')
  element('answers').replaceChildren()
  setText('sent', `Sending ${REQUESTS} requests.`)
  let passed = 0
  try {
    for (let sent = 0; sent < REQUESTS; sent += 1) passed += (await sendOne(path)) ? 1 : 0
    setText('sent', `${REQUESTS} sent: ${passed} passed, ${REQUESTS - passed} refused.`)
  } catch {
    setText('sent', 'The service did not answer. Is it running?')
  }
  button.removeAttribute('aria-disabled')
}

async function sendOne(path: string): Promise<boolean> {
  const answer = await fetch(path, { cache: 'no-store' })
  const body = await answer.text()
  const passed = answer.status < 400
  element('answers').append(make('li', passed ? 'passed' : 'denied', String(answer.status)))
  setText('status-line', `GET ${path} → ${answer.status} ${answer.statusText}`)
  const detail = passed ? undefined : detailOf(body)
  setText('problem', detail ?? '')
  show('problem', detail !== undefined)
  element('headers').replaceChildren(
    ...FIELDS.filter((name) => answer.headers.has(name)).map((name) => row(name, answer.headers.get(name) as string)),
  )
  show('last-answer')
  return passed
}

/** The `detail` of a problem body (RFC 9457). */
export function detailOf(body: string): string | undefined {
  try {
    const { detail } = JSON.parse(body) as { readonly detail?: unknown }
    return typeof detail === 'string' ? detail : undefined
  } catch {
    return undefined
  }
}
