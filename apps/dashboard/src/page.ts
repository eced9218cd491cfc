import { setText, show, element } from './element.ts'
import { drawLimits, type Reading, showLimits, startLimits } from './limits.ts'
import { startRequests } from './requests.ts'
import { startStore } from './store.ts'
import { startTopKeys } from './top-keys.ts'
import { type Activity, drawAge, showTraffic, startTraffic } from './traffic.ts'

const DRAW_MS = 200
const RETRY_MS = 5_000

interface Overview {
  readonly limits: readonly Reading[]
  readonly notShown: number
  readonly endpoints: readonly string[]
  readonly administration: boolean
}

type Event = Activity & { readonly limits: readonly Reading[]; readonly refusedBy: Record<string, number>; readonly policy: string }

async function start(): Promise<void> {
  startTraffic()
  startStore()
  const { endpoints, administration } = await showOverview()
  show('limits-note')
  startRequests(endpoints)
  startTopKeys(administration)
  listen()
  setInterval(() => {
    drawLimits()
    drawAge()
  }, DRAW_MS)
}

async function showOverview(): Promise<Overview> {
  const overview = (await (await fetch('/v1/overview', { cache: 'no-store' })).json()) as Overview
  startLimits(overview.limits, overview.notShown)
  drawLimits()
  return overview
}

function listen(): void {
  const events = new EventSource('/v1/events')
  let policy: string | undefined
  events.addEventListener('open', () => live(true, 'live'))
  events.addEventListener('error', () => {
    // The browser connects again by itself after a lost connection, but not if the service refused the connection.
    if (events.readyState !== EventSource.CLOSED) return live(false, 'connection lost, trying again')
    live(false, 'too many pages are open, trying again')
    setTimeout(listen, RETRY_MS)
  })
  events.addEventListener('message', ({ data }: MessageEvent<string>) => {
    const event = JSON.parse(data) as Event
    if (policy !== undefined && policy !== event.policy) void showOverview()
    policy = event.policy
    showTraffic(event)
    showLimits(event.limits, event.refusedBy)
  })
}

function live(good: boolean, text: string): void {
  setText('link', text)
  element('link').className = `state ${good ? 'good' : 'bad'}`
}

void start()
