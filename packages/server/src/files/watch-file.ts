import { statSync } from 'node:fs'

/**
 * Milliseconds between checks whether the file has changed. Polling also finds changes that no event of the file system reports. Editors
 * write a file in several steps, so a changed file is read when two checks in a row find it the same.
 */
const CHECK_MS = 100
/** Milliseconds after its first change when a file that still changes at every check is read anyway. */
const MAX_SETTLE_MS = 500
/** Milliseconds before a file that could not be read is tried again; the pause doubles after each failure. */
const MIN_PAUSE_MS = 250
const MAX_PAUSE_MS = 5_000

export type WatchedFile = ReturnType<typeof watchFile>

export interface WatchedBy<T> {
  read(file: string): T
  /** Called with the contents if they differ from those read before, and at every `read()`. If it throws, the file is read again later. */
  changed(found: T): Promise<void> | void
  /**
   * Called at the first failure, and at each failure of `read()`. After a failure, further ones are reported only after the file has been
   * read and accepted again.
   */
  unreadable(error: Error): void
}

/**
 * Watches a file by its name. The file may be written in place, or replaced by a rename as editors do. It may also be reached through a
 * link that is set to another folder, as Kubernetes does with a ConfigMap. Changes of other files in the folder have no effect.
 * @param last the contents as last read
 */
export function watchFile<T>(file: string, last: T | undefined, { read, changed, unreadable }: WatchedBy<T>) {
  /**
   * The result of `markOf` at the last read. It is empty at first, so that the first check reads the file: it may have changed since the
   * caller read `last`.
   */
  let seen = ''
  /** A change that may not be complete: the latest mark, and when the change was first noticed. */
  let pending: { mark: string; readonly since: number } | undefined
  /** Whether the last read failed and was reported, and when to try again. */
  let [failing, pause, retryAt] = [false, MIN_PAUSE_MS, 0]
  let [busy, wanted, closed] = [false, false, false]

  const take = async (always: boolean): Promise<void> => {
    busy = true
    pending = undefined
    seen = markOf(file)
    try {
      const found = read(file)
      if (found !== last || always) {
        last = found
        await changed(found)
      }
      failing = false
      pause = MIN_PAUSE_MS
    } catch (error) {
      last = undefined
      if (!failing || always) unreadable(error as Error)
      failing = true
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
      if (failing && now >= retryAt) void take(false)
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

/**
 * A text that differs after each change of the file that the name leads to. It contains more than the times of changes, because two quick
 * changes may have the same time.
 */
function markOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true })
    return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`
  } catch (error) {
    // Missing, a link to itself, or a folder without access: reading the file reports which.
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  }
}
