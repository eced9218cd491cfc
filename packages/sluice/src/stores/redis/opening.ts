import type { ConnectionEvents } from './first-connection.ts'

/** Settles when the first connection has been made or has failed; undefined from then on. */
export type Opening = () => Promise<void> | undefined

const known = new WeakMap<object, Opening>()

/**
 * Waits for the first connection of a client that makes it in the background. One set of listeners for each client, since many stores may share one.
 * @param ends events after which nothing is waited for any more
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
