import type { Passage } from './gate.ts'
import { type Closable, onAborted, onClose } from './leaving.ts'

/** What is read of node's response, or of its HTTP/2 compatibility API. */
export interface EndingResponse {
  /** Whether the response or its connection is closed already. */
  readonly destroyed?: boolean | undefined
  /** The status of the response, 200 until a handler sets another one. */
  readonly statusCode?: number
  /** Whether status and fields were sent. */
  readonly headersSent?: boolean
  /** Whether the handler has ended the response. */
  readonly writableEnded?: boolean
  /** Null until the earlier responses of the connection were sent. */
  readonly socket?: unknown
  /** The request, which has a connection from the start. */
  readonly req?: { readonly socket: Closable }
  /** Runs the listener when the response was sent (`finish`), or its connection was closed. */
  once?(event: 'finish' | 'close', listener: () => void): unknown
  /** Ends the response. */
  end?(...values: never[]): unknown
}

/** What is read of a Request, which some platforms make without a signal. */
interface Aborting {
  readonly method?: string
  readonly signal?: AbortSignal | undefined
}

type AtEnd = Pick<Passage, 'release' | 'settle'>

/**
 * Gives back the slots of a request when its response has ended, or when the client has left. Settles the request's hold by the response of
 * the handler, even if the handler ends that response after the client has left.
 * @param response what the framework calls the response
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
  // If the client left while the store was called, `close` was emitted already, and is not emitted again.
  if (raw.destroyed === true) return ended()
  raw.once?.('finish', ended)
  raw.once?.('close', ended)
  // A response that waits behind others of its connection (pipelining) emits nothing if the connection closes before its turn.
  if (raw.socket === null && raw.req !== undefined) stop = onClose(raw.req.socket, ended)
}

/** Gives back the slots of a request as soon as its client leaves, even if its handler never returns a response. */
export function releaseOnAbort({ release }: AtEnd, request: Aborting): void {
  if (release !== undefined) onAborted(request, release)
}

/** Calls `fn` when a handler ends a response whose client has left: no event reports such an end. */
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
 * Returns a response that gives back the slots of its request when its body was sent, failed or was cancelled, or when the client has left.
 * The slots of a response without a body, or to HEAD, whose body nobody reads, are given back at once. The request's hold is settled at the
 * same instants, but what the request used is known only when the body has ended.
 * @param response what the framework calls the response
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
