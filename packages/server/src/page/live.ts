import type { ServerResponse } from 'node:http'
import type { DecisionEvent, LimitView } from 'sluice'
import type { Policy } from 'sluice/policy'
import { readingOf } from './overview.ts'

/** Milliseconds over which decisions are collected into one event, so that a flood of decisions does not become a flood of events. */
const GATHER_MS = 50
const MAX_LISTENERS = 32
/** Unread bytes after which a listener that does not read is disconnected. */
const MAX_UNREAD = 262_144
export const EVENT_STREAM = 'text/event-stream'

export type Live = ReturnType<typeof createLive>

/** Server-sent events for the page: how many requests passed and were refused, and the state of each limit. They contain no keys. */
export function createLive(policyNow: () => Policy) {
  const listeners = new Set<ServerResponse>()
  const views = new Map<string, LimitView>()
  let [allowed, refused] = [0, 0]
  let timer: NodeJS.Timeout | undefined
  const flush = (): void => {
    const policy = policyNow()
    const limits = [...views.values()].map((view) => readingOf(policy, view))
    const data = `data: ${JSON.stringify({ allowed, refused, limits })}\n\n`
    for (const listener of listeners) if (!listener.write(data) && listener.writableLength > MAX_UNREAD) listener.destroy()
    views.clear()
    ;[allowed, refused, timer] = [0, 0, undefined]
  }
  return {
    onDecision({ decision }: DecisionEvent) {
      if (listeners.size === 0) return
      if (decision.allowed) allowed += 1
      else refused += 1
      for (const view of decision.limits) views.set(view.name, view)
      timer ??= setTimeout(flush, GATHER_MS)
    },
    /** Adds a listener and keeps its response open; returns false if there are too many. */
    listen(response: ServerResponse) {
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
