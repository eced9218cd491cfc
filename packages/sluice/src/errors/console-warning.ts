/** Receives one line about a setting that is probably a mistake. */
export type OnWarning = (message: string) => void

/** Some runtimes have no console. */
export function consoleWarning(message: string): void {
  ;(globalThis as { console?: { warn(message: string): void } }).console?.warn(`sluice: ${message}`)
}

export function firstOnly(onWarning: OnWarning): OnWarning {
  let hasWarned = false
  return (message) => {
    if (hasWarned) return
    hasWarned = true
    // Returned for `callObserver`, because `onWarning` may be an async function.
    return onWarning(message)
  }
}
