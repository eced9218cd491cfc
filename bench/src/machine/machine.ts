import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem, type } from 'node:os'

/** The machine on which figures were measured, and its load when they began. */
export interface Machine {
  readonly cores: number
  readonly cpu: string
  readonly memoryBytes: number
  readonly system: string
  /** Whether it is a virtual machine, as the processor's flags say; its times then depend on the other virtual machines of its host. */
  readonly virtual: boolean
  /** The load average of the last minute. */
  readonly load: number
  readonly node: string
  /** The commit of this repository, with `+` if files were changed since; absent outside a checkout. */
  readonly commit?: string
}

export function thisMachine(): Machine {
  const processors = cpus()
  const cpu = processors[0]?.model.trim() ?? 'unknown processor'
  const commit = commitOf()
  return {
    cores: processors.length,
    cpu,
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
    virtual: isVirtual(),
    load: loadavg()[0] ?? 0,
    node: process.versions.node,
    ...(commit === undefined ? {} : { commit }),
  }
}

function isVirtual(): boolean {
  try {
    return /^flags\s*:.*\bhypervisor\b/m.test(readFileSync('/proc/cpuinfo', 'utf8'))
  } catch {
    return false
  }
}

function commitOf(): string | undefined {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', [...args], { cwd: import.meta.dirname, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  try {
    const commit = git('rev-parse', '--short=10', 'HEAD')
    // Results are files of the repository too; they do not change what is measured.
    return git('status', '--porcelain', '--', ':/', ':!/bench/results') === '' ? commit : `${commit}+`
  } catch {
    return undefined
  }
}
