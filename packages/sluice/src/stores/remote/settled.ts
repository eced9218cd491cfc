import type { Deadlines } from '../../time/deadlines.ts'
import type { CallOptions, StoreFailure } from '../store.ts'

/** Calls, and settles by the deadline and when the caller aborts, whatever the call does: then with this failure. */
export function settled<T>(
  deadlines: Deadlines,
  { deadline, signal }: CallOptions,
  failure: (kind: 'aborted' | 'timeout') => StoreFailure,
  call: () => Promise<T>,
): Promise<T> {
  if (signal?.aborted === true) return Promise.reject(failure('aborted'))
  return new Promise((resolve, reject) => {
    const leave = (kind: 'aborted' | 'timeout'): void => {
      release()
      reject(failure(kind))
    }
    const abort = (): void => leave('aborted')
    const cancel = deadline === undefined ? undefined : deadlines.add(deadline, () => leave('timeout'))
    signal?.addEventListener('abort', abort, { once: true })
    const release = (): void => {
      cancel?.()
      signal?.removeEventListener('abort', abort)
    }
    const ending =
      <V>(end: (value: V) => void) =>
      (value: V): void => {
        release()
        end(value)
      }
    try {
      call().then(ending(resolve), ending(reject))
    } catch (error) {
      ending(reject)(error)
    }
  })
}
