// Runs a program of this repository on a fresh clone: installs what is missing, builds what is out of date, then hands over.
// Usage: node scripts/bootstrap.mjs PROGRAM [ARGUMENT ...]
// Plain JavaScript, because nothing is installed or built when it starts.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const [program, ...rest] = process.argv.slice(2)
const parent = process.ppid
/** How often a run that npm started looks whether npm's shell is still there, in milliseconds. */
const LOOK_MS = 200

install()
build()
run()

/** Installs when the lock file is not the one last installed; npm's own output is shown only if it fails. */
function install() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  const mark = join(root, 'node_modules', '.sluice-lock')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === lock) return
  process.stderr.write('installing packages, once: this takes a minute\n')
  must('installing packages', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  writeFileSync(mark, lock)
}

/** Compiler and bundler find out themselves what is out of date. */
function build() {
  mkdirSync(join(root, 'node_modules', '.cache'), { recursive: true })
  if (!existsSync(join(root, 'scripts', 'dist', 'bundle.js'))) process.stderr.write('building\n')
  must('building', process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-b'])
  must('bundling', process.execPath, [join(root, 'scripts', 'dist', 'bundle.js')])
}

function must(what, command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  if (status === 0) return
  process.stderr.write(`${what} failed: ${command} ${args.join(' ')}\n${error?.message ?? ''}${stdout ?? ''}${stderr ?? ''}`)
  process.exit(1)
}

/** Signals and the exit code pass through, so that this process can be treated as the program itself. */
function run() {
  const child = spawn(process.execPath, ['--enable-source-maps', join(root, program), ...rest], { stdio: 'inherit' })
  let stopping = false
  const stop = (signal) => {
    stopping ||= signal !== 'SIGHUP'
    child.kill(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)
  // npm passes a signal on to its shell only. The shell ends, and would leave the program running.
  if (process.env.npm_lifecycle_event !== undefined) setInterval(() => process.ppid !== parent && !stopping && stop('SIGTERM'), LOOK_MS)
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 0)))
}
