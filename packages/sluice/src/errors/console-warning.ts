/** Receives a warning about a setting that is probably not meant, in one line. */
export type OnWarning = (message: string) => void

/** Warns on the console, if there is one. */
export function consoleWarning(message: string): void {
  ;(globalThis as { console?: { warn(message: string): void } }).console?.warn(`sluice: ${message}`)
}

/** Passes on the first warning only. */
export function firstOnly(onWarning: OnWarning): OnWarning {
  let hasWarned = false
  return (message) => {
    if (hasWarned) return
    hasWarned = true
    onWarning(message)
  }
}
