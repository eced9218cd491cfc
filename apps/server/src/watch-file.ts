import { type FSWatcher, statSync, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type PolicySource, readPolicySource } from './read-policy.ts'

/** Editors write a file in several steps: what happens within this time of each other is one change. */
const SETTLE_MS = 100
/** Looks by this often find what no event tells of: a changed target behind several links, or a file system without events. */
const LOOK_EVERY_MS = 1_000

export interface WatchedFile {
  /** Reads the file now, changed or not. */
  read(): void
  close(): void
}

export interface FileListener {
  /** Called with the text where it is not the one that was read last, with the bytes where they are not UTF-8. */
  changed(text: PolicySource): void
  /** Called once until the file can be read again. */
  unreadable(error: Error): void
}

/**
 * Watches a file by its name, whatever happens to the file behind it: written in place, replaced by a rename as editors do, or reached
 * through a link that is set to another folder, as Kubernetes does with a ConfigMap.
 * @param text what was read of it before
 */
export function watchFile(file: string, text: string, listener: FileListener): WatchedFile {
  let last: PolicySource | undefined = text
  let seen = markOf(file)
  let settling: NodeJS.Timeout | undefined
  let events: FSWatcher | undefined

  const take = (always: boolean): void => {
    seen = markOf(file)
    let found: PolicySource
    try {
      found = readPolicySource(file)
    } catch (error) {
      if (last !== undefined || always) listener.unreadable(error as Error)
      last = undefined
      return
    }
    if (found === last && !always) return
    last = found
    listener.changed(found)
  }
  const soon = (): void => {
    clearTimeout(settling)
    settling = setTimeout(() => take(false), SETTLE_MS)
  }
  const look = (): void => {
    if (markOf(file) !== seen) soon()
  }
  const looking = setInterval(look, LOOK_EVERY_MS)
  try {
    // The folder, not the file: a watch of the file would stay with what was renamed away.
    events = watch(dirname(file), (_event, name) =>
      name === null || name === basename(file) || markOf(file) !== seen ? soon() : undefined,
    )
    events.on('error', () => events?.close())
  } catch {
    // The looks remain.
  }
  // It may have changed between its reading and now.
  soon()
  return {
    read: () => take(true),
    close() {
      clearInterval(looking)
      clearTimeout(settling)
      events?.close()
    },
  }
}

/** Changes whenever the file behind the name does; times alone may be too coarse to show a second change. */
function markOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? '' : `${found.dev}:${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}`
}
