/** Calls `next` synchronously if the value is there, so that calls that need no waiting create no promise. */
export function chain<T, U>(value: T | PromiseLike<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return isLater(value) ? Promise.resolve(value).then(next) : next(value)
}

function isLater<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value
}
