import type { Passage } from './gate.ts'
import { type Closable, onAborted, onClose } from './leaving.ts'

/** The fields that are read of node's ServerResponse to see how it ends. HTTP/2 responses have them too. */
export interface EndingResponse {
  /** Whether it has closed. */
  readonly destroyed?: boolean | undefined
  /** The status that was sent. */
  readonly statusCode?: number
  /** Whether a status was sent. */
  readonly headersSent?: boolean
  /** Whether the application has ended it. */
  readonly writableEnded?: boolean
  /** The connection; null in a pipelined response before its turn. */
  readonly socket?: unknown
  /** The request that it answers. */
  readonly req?: { readonly socket: Closable }
  /** The stream of an HTTP/2 response, which itself has no `destroyed`. */
  readonly stream?: { readonly destroyed?: boolean } | undefined
  /** `finish`: the response was sent. `close`: its connection was closed. */
  once?(event: 'finish' | 'close', listener: () => void): unknown
  /** Ends the response. */
  end?(...values: never[]): unknown
}

/** Some platforms make requests without a signal. */
interface Aborting {
  readonly method?: string
  readonly signal?: AbortSignal | undefined
}

type AtEnd = Pick<Passage, 'release' | 'settle'>

/**
 * Releases slots when the response has ended or the client has left. The charge is settled by the handler's response, even if the handler
 * ends it after the client has left.
 */
export function finishAtEnd(raw: EndingResponse, { release, settle }: AtEnd, response: unknown): void {
  if (release === undefined && settle === undefined) return
  const settled = (whole: boolean): void => settle?.({ status: raw.statusCode, response, whole })
  let watched = false
  let stop = (): void => {}
  const ended = (): void => {
    stop()
    release?.()
    if (settle === undefined || watched) return
    // HTTP/2 also emits `finish` for a client that has left.
    if (raw.writableEnded === true) return settled(true)
    watched = true
    if (raw.headersSent === true) settled(false)
    onceEnded(raw, () => settled(true))
  }
  // If the client left during the check, `close` is not emitted again.
  if (raw.destroyed === true || raw.stream?.destroyed === true) return ended()
  raw.once?.('finish', ended)
  raw.once?.('close', ended)
  // A pipelined response, which has no socket before its turn, emits nothing if the connection closes before then.
  if (raw.socket === null && raw.req !== undefined) stop = onClose(raw.req.socket, ended)
}

/** Releases slots even if the handler never returns. */
export function releaseOnAbort({ release }: AtEnd, request: Aborting): void {
  if (release !== undefined) onAborted(request, release)
}

/** After the client has left, no event reports that the handler ended the response. */
function onceEnded(raw: EndingResponse, fn: () => void): void {
  const { end } = raw
  if (end === undefined) return
  raw.end = (...values) => {
    try {
      return end.apply(raw, values)
    } finally {
      fn()
    }
  }
}

/**
 * Returns a copy of a response that releases slots when its body was sent, failed or was cancelled, or the client has left. Without a body,
 * and for HEAD, they are released at once.
 */
export function finishedAfter(
  sent: Response,
  { release, settle }: AtEnd,
  { method, signal }: Aborting,
  response: unknown = sent,
): Response {
  if (release === undefined && settle === undefined) return sent
  const { body, status } = sent
  const finish = (whole: boolean): void => {
    release?.()
    settle?.({ status, response, whole })
  }
  const left = (): void => finish(false)
  if (body === null || method === 'HEAD') {
    finish(true)
    return sent
  }
  if (signal?.aborted === true) left()
  else signal?.addEventListener('abort', left, { once: true })
  const reader = body.getReader()
  const watched = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          finish(true)
          controller.close()
        } catch (error) {
          finish(true)
          controller.error(error)
        }
      },
      async cancel(reason) {
        left()
        try {
          await reader.cancel(reason)
        } finally {
          finish(true)
        }
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(watched, sent)
}
