/** The input of a process that `startOrdered` has started. To be awaited before the process listens for orders. */
export function orderedInput(): Promise<unknown> {
  return new Promise((resolve) => process.once('message', resolve))
}
