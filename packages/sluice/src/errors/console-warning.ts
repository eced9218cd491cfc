/** Receives a warning, in one line, about a setting that is probably a mistake. */
export type OnWarning = (message: string) => void

/** Prints a warning on the console, if the runtime has one. */
export function consoleWarning(message: string): void {
  ;(globalThis as { console?: { warn(message: string): void } }).console?.warn(`sluice: ${message}`)
}

/** Returns a function that passes on only the first warning it gets. */
export function firstOnly(onWarning: OnWarning): OnWarning {
  let hasWarned = false
  return (message) => {
    if (hasWarned) return
    hasWarned = true
    onWarning(message)
  }
}
