import { count, element, row, setText, show } from './element.ts'
import { detailOf } from './requests.ts'

const EVERY_MS = 3_000

interface KeyCount {
  readonly rule: string
  readonly key: string
  readonly requests: number
  readonly refused: number
}

/** Shows the busiest keys to a user who enters the admin token. The token is only kept in a variable of this function. */
export function startTopKeys(administration: boolean): void {
  show('keys')
  if (!administration) {
    show('token-form', false)
    setText('keys-note', 'To see which keys send most, start the service with --admin-token-file FILE.')
    return
  }
  let timer: number | undefined
  element('token-form').addEventListener('submit', (event) => {
    event.preventDefault()
    const { value: token } = element('token') as HTMLInputElement
    clearInterval(timer)
    timer = setInterval(() => void read(token), EVERY_MS)
    void read(token)
  })
  const read = async (token: string): Promise<void> => {
    if (!(await showKeys(token))) clearInterval(timer)
  }
}

/** Returns false if the service refused the token. */
async function showKeys(token: string): Promise<boolean> {
  try {
    const answer = await fetch('/v1/keys?top=20', { headers: { Authorization: `Bearer ${token}` }, cache: 'no-store' })
    const body = await answer.text()
    show('key-table', answer.ok)
    show('token-form', !answer.ok)
    if (!answer.ok) {
      setText('keys-state', answer.status === 401 ? 'This is not the admin token of the service.' : (detailOf(body) ?? answer.statusText))
      return answer.status !== 401
    }
    const { keys } = JSON.parse(body) as { readonly keys: readonly KeyCount[] }
    setText('keys-state', keys.length === 0 ? 'No key was used since the start.' : '')
    element('key-rows').replaceChildren(...keys.map(({ rule, key, requests, refused }) => row(rule, key, count(requests), count(refused))))
    setText('keys-note', 'Since the start of the service, as pseudonyms.')
  } catch {
    setText('keys-state', 'The service did not answer; trying again.')
  }
  return true
}
