import { type FSWatcher, statSync, watch } from 'node:fs'
import { dirname } from 'node:path'

/** Editors write a file in several steps, so it is read when it has not changed for this long. */
const SETTLE_MS = 100
/** A file that keeps changing is read at most this long after a change. */
const MAX_SETTLE_MS = 500
/** Milliseconds before a file that could not be read is tried again; the pause doubles after each failure. */
const AGAIN_MS = 250
const MAX_AGAIN_MS = 5_000
/** Polling at this interval finds what no event reports: a changed target behind several links, or a file system without events. */
const LOOK_EVERY_MS = 500

export interface WatchedFile {
  /** Reads the file now, changed or not. */
  read(): void
  close(): void
}

export interface WatchedBy<T> {
  /**
   * Reads the file.
   * @throws Error if the file cannot be read
   */
  read(file: string): T
  /** Called with the contents if they differ from the last ones. If it throws, the file is tried again. */
  changed(found: T): Promise<void> | void
  /** Called at the first failure, and not again until the file was read and accepted. */
  unreadable(error: Error): void
}

/**
 * Watches a file by its name. The file may be written in place, or replaced by a rename as editors do. It may also be reached through a
 * link that is set to another folder, as Kubernetes does with a ConfigMap. Changes of other files in the folder have no effect.
 * @param last the contents as last read
 */
export function watchFile<T>(file: string, last: T | undefined, { read, changed, unreadable }: WatchedBy<T>): WatchedFile {
  let seen = markOf(file)
  /** Whether the last read failed and was reported; the next retry follows after `again` milliseconds. */
  let failing = false
  let again = AGAIN_MS
  /** Two timers: a change that settles must not wait for the retry of a failed read, which may be seconds away. */
  let settling: NodeJS.Timeout | undefined
  let retrying: NodeJS.Timeout | undefined
  /** When the pending change was noticed, and the file's mark at that time. */
  let [since, mark] = [0, '']
  let [busy, closed] = [false, false]
  let wanted: 'changed' | 'always' | undefined

  const soon = (): void => {
    if (settling !== undefined || closed) return
    since = performance.now()
    mark = markOf(file)
    settling = setTimeout(settle, SETTLE_MS)
  }
  const settle = (): void => {
    settling = undefined
    const now = markOf(file)
    if (now === seen) {
      if (failing && !busy) retryLater()
      return
    }
    if (now !== mark && performance.now() - since < MAX_SETTLE_MS) {
      mark = now
      settling = setTimeout(settle, SETTLE_MS)
      return
    }
    clearTimeout(retrying)
    retrying = undefined
    again = AGAIN_MS
    void take('changed')
  }
  /** Retries an unchanged file after pauses that double; a changed one is read when it has settled. */
  const retryLater = (): void => {
    if (retrying !== undefined || closed) return
    retrying = setTimeout(() => {
      retrying = undefined
      if (markOf(file) === seen) void take('changed')
      else soon()
    }, again)
    again = Math.min(MAX_AGAIN_MS, 2 * again)
  }
  const attempt = async (always: boolean): Promise<void> => {
    seen = markOf(file)
    try {
      const found = read(file)
      if (found !== last || always) {
        last = found
        await changed(found)
      }
      failing = false
      again = AGAIN_MS
      clearTimeout(retrying)
      retrying = undefined
    } catch (error) {
      last = undefined
      if (!failing || always) unreadable(error as Error)
      failing = true
      retryLater()
    }
  }
  /** Runs one read at a time; a change during a read causes another read after it. */
  const take = async (how: 'changed' | 'always'): Promise<void> => {
    if (busy) {
      wanted = wanted === 'always' ? wanted : how
      return
    }
    busy = true
    await attempt(how === 'always')
    busy = false
    const next = wanted
    wanted = undefined
    if (next !== undefined && !closed) await take(next)
  }
  const folder = watchFolder(dirname(file), soon)
  const looking = setInterval(() => {
    folder.look()
    if (markOf(file) !== seen) soon()
  }, LOOK_EVERY_MS)
  // The file may have changed between its reading and now.
  mark = seen
  since = performance.now()
  settling = setTimeout(() => {
    settling = undefined
    void take('changed')
  }, SETTLE_MS)
  return {
    read: () => void take('always'),
    close() {
      closed = true
      clearInterval(looking)
      clearTimeout(settling)
      clearTimeout(retrying)
      folder.close()
    },
  }
}

/**
 * Watches the folder, because a watch of the file would follow the renamed file. A folder that was removed or replaced sends no more
 * events, so each poll opens the watch again if the name refers to another folder.
 */
function watchFolder(folder: string, changed: () => void): { look(): void; close(): void } {
  let events: FSWatcher | undefined
  let watched = ''
  const close = (): void => {
    events?.close()
    events = undefined
  }
  const look = (): void => {
    const now = folderOf(folder)
    if (events !== undefined && now === watched) return
    close()
    watched = now
    try {
      events = watch(folder, changed)
      events.on('error', close)
    } catch {
      // Polling of the file continues without events.
    }
  }
  look()
  return { look, close }
}

function folderOf(name: string): string {
  try {
    // A new folder may reuse the inode of the old one.
    const { dev, ino, birthtimeNs } = statSync(name, { bigint: true })
    return `${dev}:${ino}:${birthtimeNs}`
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  }
}

/** Changes whenever the file behind the name changes; times alone may be too coarse to show a second change. */
function markOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true })
    return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`
  } catch (error) {
    // Missing, a link to itself, or a folder without access: reading the file reports which.
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  }
}
