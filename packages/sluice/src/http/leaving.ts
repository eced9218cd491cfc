/** A connection of node, or a stream of HTTP/2. */
export interface Closable {
  /** Whether it has closed. */
  readonly destroyed?: boolean
  /** Adds a listener that runs once. */
  once?(event: 'close', listener: () => void): unknown
  /** Removes a listener. */
  removeListener?(event: 'close', listener: () => void): unknown
}

/**
 * For each connection, the functions to call when it closes, and the one listener that calls them. Several requests may wait on one
 * connection, and Node.js warns if an object has many listeners.
 */
const known = new WeakMap<Closable, { readonly fns: Set<() => void>; readonly run: () => void }>()

/** Calls `fn` when the connection closes, or at once if it has closed. Returns a function that stops listening. */
export function onClose(connection: Closable, fn: () => void): () => void {
  if (connection.destroyed === true) {
    fn()
    return () => {}
  }
  const listeners = known.get(connection) ?? listened(connection)
  const own = (): void => fn()
  listeners.fns.add(own)
  return () => {
    if (!listeners.fns.delete(own) || listeners.fns.size > 0) return
    connection.removeListener?.('close', listeners.run)
    known.delete(connection)
  }
}

function listened(connection: Closable): { readonly fns: Set<() => void>; readonly run: () => void } {
  const fns = new Set<() => void>()
  const run = (): void => {
    known.delete(connection)
    for (const fn of fns) {
      fns.delete(fn)
      fn()
    }
  }
  const listeners = { fns, run }
  known.set(connection, listeners)
  connection.once?.('close', run)
  return listeners
}

/** As `onClose`, for a request of Node.js. For HTTP/2 it watches the request's stream, which closes before its connection does. */
export function onRequestClose({ socket, stream }: { readonly socket: Closable; readonly stream?: Closable }, fn: () => void): () => void {
  return onClose(stream ?? socket, fn)
}

/** As `onClose`, for requests that have a signal. */
export function onAborted({ signal }: { readonly signal?: AbortSignal | undefined }, fn: () => void): () => void {
  if (signal?.aborted === true) fn()
  else signal?.addEventListener('abort', fn, { once: true })
  return () => signal?.removeEventListener('abort', fn)
}
