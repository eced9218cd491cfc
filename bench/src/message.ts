/** The first line of an error's message, for reports and progress. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message.trim() : ''
  // An AggregateError of refused connections has no message, so the error itself is converted to a text.
  const [first = ''] = (message === '' ? String(error) : message).split('\n')
  return first
}
