import { statSync } from 'node:fs'

/** Milliseconds between checks. Editors write a file in several steps, so a changed file is read when two checks agree. */
const CHECK_MS = 100
/** Milliseconds after which a file that changes at every check is read anyway. */
const MAX_SETTLE_MS = 500
/** Milliseconds before a failed read is tried again; doubled after each failure. */
const MIN_PAUSE_MS = 250
const MAX_PAUSE_MS = 5_000

export type WatchedFile = ReturnType<typeof watchFile>

export interface WatchedBy<T> {
  read(file: string): T
  /**
   * Called with changed contents, and after each `WatchedFile.read()`. If it throws, the file is read again later.
   * @param always whether `WatchedFile.read()` was called
   */
  changed(found: T, always: boolean): Promise<void> | void
  /** Called once for several failures in a row with the same message, and for each failure after a `WatchedFile.read()`. */
  unreadable(error: Error): void
}

/**
 * Finds changes in place, renames as editors do, and links set to another folder, as Kubernetes does with a ConfigMap.
 * @param last the contents as last read
 */
export function watchFile<T>(file: string, last: T | undefined, { read, changed, unreadable }: WatchedBy<T>) {
  /** Empty at first, so that the first check reads the file: it may have changed since `last` was read. */
  let seen = ''
  /** A change that may not be complete, and when it was noticed. */
  let pending: { mark: string; readonly since: number } | undefined
  let [pause, retryAt] = [MIN_PAUSE_MS, 0]
  /** The message of the latest failure; undefined after a success. */
  let failing: string | undefined
  let [busy, wanted, closed] = [false, false, false]

  const take = async (always: boolean): Promise<void> => {
    busy = true
    pending = undefined
    seen = markOf(file)
    try {
      const found = read(file)
      if (found !== last || always) {
        last = found
        await changed(found, always)
      }
      failing = undefined
      pause = MIN_PAUSE_MS
    } catch (error) {
      last = undefined
      const { message } = error as Error
      if (message !== failing || always) unreadable(error as Error)
      failing = message
      retryAt = performance.now() + pause
      pause = Math.min(MAX_PAUSE_MS, 2 * pause)
    }
    busy = false
    if (!wanted || closed) return
    wanted = false
    await take(true)
  }
  const check = (): void => {
    if (busy) return
    const [mark, now] = [markOf(file), performance.now()]
    if (mark === seen) {
      pending = undefined
      if (failing !== undefined && now >= retryAt) void take(false)
    } else if (pending === undefined) pending = { mark, since: now }
    else if (pending.mark !== mark && now - pending.since < MAX_SETTLE_MS) pending.mark = mark
    else {
      pause = MIN_PAUSE_MS
      void take(false)
    }
  }
  const checking = setInterval(check, CHECK_MS)
  return {
    /** Reads the file now, changed or not. */
    read() {
      if (busy) wanted = true
      else void take(true)
    },
    close() {
      closed = true
      clearInterval(checking)
    },
  }
}

/** Times alone are not enough, because two quick changes may have the same time. */
function markOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true })
    return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`
  } catch (error) {
    // The reason is reported when the file is read.
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  }
}
