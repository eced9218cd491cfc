/** Resolves with the input that `startOrdered` sent to this process. The process must await it before it listens for orders. */
export function orderedInput(): Promise<unknown> {
  return new Promise((resolve) => process.once('message', resolve))
}
