import { element, setText, show } from './element.ts'

const EVERY_MS = 5_000

interface Readiness {
  readonly status: string
  readonly store?: string
  readonly workers?: { readonly serving: number; readonly wanted: number }
}

/** Shows whether the service is ready, and what is wrong with its store. */
export function startStore(): void {
  void showState()
  setInterval(() => void showState(), EVERY_MS)
}

async function showState(): Promise<void> {
  const state = await readState()
  setText('store', textOf(state))
  element('store').className = `state ${state?.status === 'ready' ? 'good' : 'bad'}`
  show('store')
}

async function readState(): Promise<Readiness | undefined> {
  try {
    return (await (await fetch('/readyz', { cache: 'no-store' })).json()) as Readiness
  } catch {
    return undefined
  }
}

function textOf(state: Readiness | undefined): string {
  if (state === undefined) return 'the service does not answer'
  const { status, store, workers } = state
  const missing = workers === undefined || workers.serving === workers.wanted ? '' : ` (${workers.serving} of ${workers.wanted} workers)`
  return `${status}${missing}${store === undefined ? '' : `: ${store}`}`
}
