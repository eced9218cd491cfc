import { type FSWatcher, statSync, watch } from 'node:fs'
import { dirname } from 'node:path'

/** Editors write a file in several steps: it is read when it has not changed for this long. */
const SETTLE_MS = 100
/** A file that changes all the time is read all the same, this long after a change at most. */
const LONGEST_SETTLE_MS = 500
/** A file that could not be read is tried again after this long, and then after twice as long each time. */
const AGAIN_MS = 250
const LONGEST_AGAIN_MS = 5_000
/** Looks by this often find what no event tells of: a changed target behind several links, or a file system without events. */
const LOOK_EVERY_MS = 1_000

export interface WatchedFile {
  /** Reads the file now, changed or not. */
  read(): void
  close(): void
}

export interface WatchedBy<T> {
  /** @throws Error where the file cannot be read */
  read(file: string): T
  /** Called with what was read where that is not what was read last. Where it throws, the file is tried again. */
  changed(found: T): Promise<void> | void
  /** Called once until the file can be read and taken in again. */
  unreadable(error: Error): void
}

/**
 * Watches a file by its name, whatever happens to the file behind it: written in place, replaced by a rename as editors do, or reached
 * through a link that is set to another folder, as Kubernetes does with a ConfigMap. What is written beside it makes no difference.
 * @param last what was read of it before
 */
export function watchFile<T>(file: string, last: T | undefined, { read, changed, unreadable }: WatchedBy<T>): WatchedFile {
  let seen = markOf(file)
  /** The last try failed and was reported; the next follows after so many milliseconds. */
  let failing = false
  let again = AGAIN_MS
  let timer: NodeJS.Timeout | undefined
  /** When the change was noticed that is waited for, and the file as it was then. */
  let [since, mark] = [0, '']
  let [busy, closed] = [false, false]
  let wanted: 'changed' | 'always' | undefined
  let events: FSWatcher | undefined

  const wait = (ms: number): void => {
    timer = closed ? undefined : setTimeout(settle, ms)
  }
  const soon = (): void => {
    if (timer !== undefined) return
    since = performance.now()
    mark = markOf(file)
    again = AGAIN_MS
    wait(SETTLE_MS)
  }
  const settle = (): void => {
    timer = undefined
    const now = markOf(file)
    if (now === seen && !failing) return
    if (now !== mark && performance.now() - since < LONGEST_SETTLE_MS) {
      mark = now
      return wait(SETTLE_MS)
    }
    void take('changed')
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
    } catch (error) {
      last = undefined
      if (!failing || always) unreadable(error as Error)
      failing = true
      if (timer !== undefined) return
      wait(again)
      again = Math.min(LONGEST_AGAIN_MS, 2 * again)
    }
  }
  /** One after the other: what changes meanwhile is read afterwards. */
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
  const looking = setInterval(() => (markOf(file) === seen ? undefined : soon()), LOOK_EVERY_MS)
  try {
    // The folder, not the file: a watch of the file would stay with what was renamed away.
    events = watch(dirname(file), soon)
    events.on('error', () => events?.close())
  } catch {
    // The looks remain.
  }
  // It may have changed between its reading and now.
  mark = seen
  since = performance.now()
  timer = setTimeout(() => {
    timer = undefined
    void take('changed')
  }, SETTLE_MS)
  return {
    read: () => void take('always'),
    close() {
      closed = true
      clearInterval(looking)
      clearTimeout(timer)
      events?.close()
    },
  }
}

/** Changes whenever the file behind the name does; times alone may be too coarse to show a second change. */
function markOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true })
    return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`
  } catch (error) {
    // Missing, a link to itself, a folder that may not be entered: reading the file says which.
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  }
}
