import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A copy of the repository as it was built, in which documents may write what they like. */
export interface Workspace {
  readonly root: string
  /** What is here is not part of the repository. */
  readonly fences: string
  write(name: string, text: string): void
  remove(): void
}

/** Programs that documents call and that are not what a reader has. They wait for a server that was started in the lines before. */
const COMMANDS: Readonly<Record<string, string>> = {
  // In a terminal it draws no progress next to what it prints.
  curl: `wait_for_servers "$@"\nexec "$CURL" --no-progress-meter "$@"\n`,
  open: `wait_for_servers "$@"\nexec "$CURL" --fail --silent --show-error --output /dev/null "$1"\n`,
  sluice: `[ "\${1:-}" = serve ] || wait_for_servers "$@"\nexec node "$REPOSITORY/packages/server/dist/main.js" "$@"\n`,
  program: `exec node --enable-source-maps "$FENCES/program.mjs" "$1"\n`,
}

/** As long as a server takes to start on a busy machine; then the command is run all the same and says what it sees. */
const WAIT = `#!/usr/bin/env bash
wait_for_servers() {
  local argument attempt
  for argument in "$@"; do
    if [[ $argument =~ (127\\.0\\.0\\.1|localhost):([0-9]+) ]]; then
      for attempt in {1..300}; do
        (: < "/dev/tcp/127.0.0.1/\${BASH_REMATCH[2]}") 2>/dev/null && break
        sleep 0.1
      done
    fi
  done
}
`

/** A program is over when its last top-level statement is: servers and connections that it leaves open do not keep it. */
const PROGRAM = `import { pathToFileURL } from 'node:url'
await import(pathToFileURL(process.argv[2]))
setTimeout(() => process.exit(), 250).unref()
`

/** Copies the repository with what was built, and links what was installed. */
export function copyWorkspace(repository: string): Workspace {
  const root = mkdtempSync(join(tmpdir(), 'sluice-fences-'))
  const installed: string[] = []
  for (const entry of readdirSync(repository)) {
    if (entry === 'node_modules' || entry === '.git' || entry === 'data') continue
    cpSync(join(repository, entry), join(root, entry), {
      recursive: true,
      preserveTimestamps: true,
      filter: (source, target) => {
        if (!source.endsWith('node_modules')) return true
        installed.push(target)
        symlinkSync(source, target)
        return false
      },
    })
  }
  linkPackages(join(repository, 'node_modules'), join(root, 'node_modules'))
  const lock = readFileSync(join(root, 'package-lock.json'))
  writeFileSync(join(root, 'node_modules', '.sluice-lock'), createHash('sha256').update(lock).digest('hex'))
  const fences = join(root, '.fences')
  const write = (name: string, text: string): void => {
    const file = join(fences, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  write('program.mjs', PROGRAM)
  for (const [name, script] of Object.entries(COMMANDS)) {
    write(`bin/${name}`, WAIT + script)
    chmodSync(join(fences, 'bin', name), 0o755)
  }
  return { root, fences, write, remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 3 }) }
}

/** Links to every package, so that nothing done here touches the repository; links to its own workspaces lead to their copies. */
function linkPackages(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const { name } = entry
    if (name === '.cache' || name === '.sluice-lock') continue
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(join(from, name)), join(to, name))
    else if (name === '.bin' || name === '@sluice') linkPackages(join(from, name), join(to, name))
    else symlinkSync(join(from, name), join(to, name))
  }
}
