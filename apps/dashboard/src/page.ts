import { showAnswers, showHeaders } from './answers.ts'
import { element } from './element.ts'
import { drawLimits, type LimitReading, showLimits } from './limits.ts'

const REQUESTS = 60

interface Overview {
  readonly limits: readonly LimitReading[]
  readonly endpoints: readonly string[]
}

async function start(): Promise<void> {
  const overview = (await (await fetch('/v1/overview')).json()) as Overview
  showLimits(overview.limits)
  const select = element('endpoint') as HTMLSelectElement
  select.replaceChildren(...overview.endpoints.map((path) => new Option(path, path)))
  const button = element('send') as HTMLButtonElement
  button.disabled = overview.endpoints.length === 0
  button.addEventListener('click', () => void sendAll(button, select.value))
  listen()
  requestAnimationFrame(function frame() {
    drawLimits()
    requestAnimationFrame(frame)
  })
}

function listen(): void {
  const events = new EventSource('/v1/events')
  const link = element('link')
  events.addEventListener('open', () => (link.textContent = 'live'))
  events.addEventListener('error', () => (link.textContent = 'connection lost, trying again'))
  events.addEventListener('message', (event: MessageEvent<string>) => showLimits((JSON.parse(event.data) as Overview).limits))
}

/** One after the other, so that the order of the answers is the order of the decisions. */
async function sendAll(button: HTMLButtonElement, path: string): Promise<void> {
  button.disabled = true
  const statuses: number[] = []
  showAnswers(statuses)
  for (let sent = 0; sent < REQUESTS; sent += 1) {
    const answer = await fetch(path, { cache: 'no-store' })
    await answer.arrayBuffer()
    statuses.push(answer.status)
    showAnswers(statuses)
    showHeaders(path, answer)
  }
  button.disabled = false
}

void start()
