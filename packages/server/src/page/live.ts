import type { ServerResponse } from 'node:http'
import type { ReadReports } from '../workers/messages.ts'
import { type Activity, sumActivity } from './activity.ts'

const TICK_MS = 250
const MAX_LISTENERS = 32
/** A listener with more unread bytes is disconnected. */
const MAX_UNREAD = 262_144
/** A listener's first event contains all seconds, later events only the last few. */
const RECENT_SECONDS = 10
export const EVENT_STREAM = 'text/event-stream'

export type Live = ReturnType<typeof createLive>

/** Server-sent events for the page. While nobody listens, nothing is collected. */
export function createLive(read: ReadReports['activity']) {
  const listeners = new Set<ServerResponse>()
  let timer: NodeJS.Timeout | undefined
  let [reading, sent] = [false, '']
  const write = (listener: ServerResponse, data: string): void => {
    if (!listener.write(`data: ${data}\n\n`) && listener.writableLength > MAX_UNREAD) listener.destroy()
  }
  /** Undefined if no process reported in time. */
  const current = async (): Promise<Activity | undefined> => {
    try {
      return sumActivity(await read())
    } catch {
      return undefined
    }
  }
  const tick = async (): Promise<void> => {
    if (reading) return
    reading = true
    const activity = await current()
    reading = false
    const data = activity === undefined ? sent : JSON.stringify(recentOf(activity))
    if (data === sent) return
    sent = data
    for (const listener of listeners) write(listener, data)
  }
  return {
    /** Returns false if there are too many listeners. */
    listen(response: ServerResponse): boolean {
      if (listeners.size >= MAX_LISTENERS) return false
      response.writeHead(200, { 'Content-Type': EVENT_STREAM, 'Cache-Control': 'no-store', Connection: 'close' })
      response.write('retry: 1000\n\n')
      listeners.add(response)
      timer ??= setInterval(() => void tick(), TICK_MS)
      response.on('close', () => {
        listeners.delete(response)
        if (listeners.size > 0) return
        clearInterval(timer)
        timer = undefined
      })
      void current().then((activity) => {
        if (activity !== undefined && listeners.has(response)) write(response, JSON.stringify(activity))
      })
      return true
    },
    close() {
      clearInterval(timer)
      for (const listener of listeners) listener.end()
    },
  }
}

function recentOf(activity: Activity): Activity {
  return { ...activity, allowed: activity.allowed.slice(-RECENT_SECONDS), refused: activity.refused.slice(-RECENT_SECONDS) }
}
