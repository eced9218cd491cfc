import type { ConnectionEvents } from './first-connection.ts'

/** Settles when the first connection has been made or has failed; undefined from then on. */
export type Opening = () => Promise<void> | undefined

const known = new WeakMap<object, Opening>()

/**
 * Waits for the first connection of a client that connects in the background. Each client gets one set of listeners, because many stores
 * may share one.
 * @param ends events that end the wait
 */
export function openingOf(client: Pick<ConnectionEvents, 'once'>, ends: readonly string[]): Opening {
  const found = known.get(client)
  if (found !== undefined) return found
  let over = false
  const settled = new Promise<void>((resolve) => {
    const settle = (): void => {
      over = true
      resolve()
    }
    for (const event of ends) client.once(event, settle)
  })
  const opening: Opening = () => (over ? undefined : settled)
  known.set(client, opening)
  return opening
}
