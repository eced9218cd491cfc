/** Drops what the observer throws or rejects with, so that it changes no decision and does not end the process. */
export function callObserver<Values extends readonly unknown[]>(observer: (...values: Values) => unknown, ...values: Values): void {
  try {
    dropRejection(observer(...values))
  } catch {}
}

/** For what an observer returned: an observer may be an async function. */
export function dropRejection(returned: unknown): void {
  if (typeof returned === 'object' && returned !== null && 'then' in returned) Promise.resolve(returned).catch(() => undefined)
}
