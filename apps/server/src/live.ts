import type { ServerResponse } from 'node:http'
import type { DecisionEvent, LimitView, Observer } from 'sluice'
import type { Policy } from 'sluice/policy'
import { readingOf } from './fill.ts'

/** Events are gathered for this long, so that a flood of decisions is no flood of events. */
const GATHER_MS = 50
const MAX_LISTENERS = 32
/** A listener that does not read is let go before it costs more than this, in bytes. */
const MAX_UNREAD = 262_144
export const EVENT_STREAM = 'text/event-stream'

export interface Live extends Observer {
  /** Adds a listener: the response stays open; false where there are too many already. */
  listen(response: ServerResponse): boolean
  close(): void
}

interface Gathered {
  allowed: number
  refused: number
  readonly limits: Map<string, LimitView>
}

/** Server-sent events for the page: how many requests passed and were refused, and where each limit stands. No keys are sent. */
export function createLive(policyNow: () => Policy): Live {
  const listeners = new Set<ServerResponse>()
  let gathered = nothing()
  let timer: NodeJS.Timeout | undefined

  const flush = (): void => {
    timer = undefined
    const { allowed, refused, limits } = gathered
    gathered = nothing()
    const policy = policyNow()
    const readings = [...limits.values()].map((view) => readingOf(policy, view))
    const data = `data: ${JSON.stringify({ allowed, refused, limits: readings })}\n\n`
    for (const listener of listeners) {
      if (!listener.write(data) && listener.writableLength > MAX_UNREAD) listener.destroy()
    }
  }
  return {
    onDecision({ decision }: DecisionEvent) {
      if (listeners.size === 0) return
      if (decision.allowed) gathered.allowed += 1
      else gathered.refused += 1
      for (const view of decision.limits) gathered.limits.set(view.name, view)
      timer ??= setTimeout(flush, GATHER_MS)
    },
    listen(response) {
      if (listeners.size >= MAX_LISTENERS) return false
      response.writeHead(200, { 'Content-Type': EVENT_STREAM, 'Cache-Control': 'no-store', Connection: 'close' })
      response.write('retry: 1000\n\n')
      listeners.add(response)
      response.on('close', () => listeners.delete(response))
      return true
    },
    close() {
      clearTimeout(timer)
      for (const listener of listeners) listener.end()
    },
  }
}

function nothing(): Gathered {
  return { allowed: 0, refused: 0, limits: new Map() }
}
