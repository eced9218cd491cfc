import { messageOf } from './message.ts'

/** What must be undone at the end of a part or of a run, even if it is interrupted: processes, servers, folders. */
export interface Undos {
  readonly add: (undo: () => Promise<void>) => void
  /** Undoes all, the last one first. One that fails is reported in a line, and the others still run. */
  readonly run: () => Promise<void>
}

export function undosOf(report: (line: string) => void = console.error): Undos {
  const list: (() => Promise<void>)[] = []
  let running = Promise.resolve()
  // One by one, because a folder is removed after the server that uses it. More may be added meanwhile.
  const drain = async (): Promise<void> => {
    for (let undo = list.pop(); undo !== undefined; undo = list.pop()) {
      try {
        await undo()
      } catch (error) {
        report(`not undone: ${messageOf(error)}`)
      }
    }
  }
  return {
    add: (undo) => void list.push(undo),
    // A second caller also waits for what the first one is undoing.
    run: () => (running = running.then(drain)),
  }
}
