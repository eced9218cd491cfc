/** Goes on with a value at once where it is there, so that what needs no waiting makes no promise. */
export function chain<T, U>(value: T | PromiseLike<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return isLater(value) ? Promise.resolve(value).then(next) : next(value)
}

function isLater<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value
}
