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

/** A copy of the built repository, in which the fences of documents may write files. */
export interface Workspace {
  readonly root: string
  /** A folder of the copy for files that are not part of the repository. */
  readonly fences: string
  write(name: string, text: string): void
  remove(): void
}

/** Programs that replace those of the reader in fences. The first three wait for a server that an earlier line started. */
const COMMANDS: Readonly<Record<string, string>> = {
  // curl runs without its progress meter, which it prints if its output is not a terminal.
  curl: `wait_for_servers "$@"\nexec "$CURL" --no-progress-meter "$@"\n`,
  open: `wait_for_servers "$@"\nexec "$CURL" --fail --silent --show-error --output /dev/null "$1"\n`,
  sluice: `[ "\${1:-}" = serve ] || wait_for_servers "$@"\nexec node "$REPOSITORY/packages/server/dist/main.js" "$@"\n`,
  program: `exec node --enable-source-maps "$FENCES/program.mjs" "$1"\n`,
}

/** Waits as long as a server may take to start on a busy machine. After that the command runs anyway and reports the error. */
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

/** A program ends soon after its last top-level statement. Servers and connections that it leaves open do not keep it running. */
const PROGRAM = `import { pathToFileURL } from 'node:url'
await import(pathToFileURL(process.argv[2]))
setTimeout(() => process.exit(), 250).unref()
`

/** Copies the repository with its built files, and links the installed packages. */
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

/**
 * Makes a link to every installed package. Links to workspaces of the repository lead to their copies, so that fences cannot change the
 * repository.
 */
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
