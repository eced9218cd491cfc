import { readdirSync, readFileSync } from 'node:fs'

/** Processes are read from /proc; elsewhere these tests are skipped. */
export const noProcesses: boolean = process.platform !== 'linux'

interface Entry {
  readonly pid: number
  readonly parent: number
  readonly state: string
}

/** Sends SIGSTOP to a server and its children. Resolves when the kernel says that all of them are stopped. */
export async function stopTree(root: number): Promise<void> {
  process.kill(root, 'SIGSTOP')
  for (;;) {
    // A child may have been made just before its parent stopped. The next round finds that child.
    const running = tree(root).filter(({ state }) => state !== 'T')
    if (running.length === 0) return
    running.forEach(({ pid }) => send(pid, 'SIGSTOP'))
    await new Promise((resolve) => setImmediate(resolve))
  }
}

export function continueTree(root: number): void {
  tree(root).forEach(({ pid }) => send(pid, 'SIGCONT'))
}

function tree(root: number): Entry[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => entryOf(Number(name)))
  return all.filter(({ pid, parent, state }) => (pid === root || parent === root) && state !== 'Z')
}

function entryOf(pid: number): Entry[] {
  try {
    // pid (name) state ppid ...; the name may hold anything.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return [{ pid, parent: Number(parent), state }]
  } catch {
    return []
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended meanwhile.
  }
}
