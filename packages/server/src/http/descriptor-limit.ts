import { CommandFailure, EXIT } from '../cli/failure.ts'

/** How many connections a process serves, and how many above that get health responses. */
export interface ConnectionBounds {
  readonly served: number
  readonly extra: number
  /** Present if the system allows fewer than the default. */
  readonly warning?: string
}

export const DEFAULT_CONNECTIONS = 10_000
/** Files of the process itself: connections of its store, the policy, its channels. */
const OWN_FILES = 64
const MAX_EXTRA = 256
const MIN_EXTRA = 16

/**
 * Computes how many connections fit into the process's limit of open files, less those kept for health and for the process itself.
 * @param asked the value of --max-connections
 * @param files the limit; Infinity if the system reports none
 * @throws CommandFailure exit 3 if `asked` is more than fits
 */
export function connectionBounds(asked: number | undefined, files: number = openFilesLimit()): ConnectionBounds {
  const extra = Math.max(MIN_EXTRA, Math.min(MAX_EXTRA, Math.floor(files / 8)))
  const fitting = Math.max(1, files - OWN_FILES - extra)
  const served = asked ?? DEFAULT_CONNECTIONS
  if (served <= fitting) return { served, extra }
  const limit = `the system lets this process have ${files} files open (ulimit -n)`
  if (asked !== undefined) throw new CommandFailure(EXIT.usage, `--max-connections is ${asked}: ${limit}; expected at most ${fitting}`)
  return { served: fitting, extra, warning: `${limit}: ${fitting} connections are served, and not ${DEFAULT_CONNECTIONS}` }
}

/** The limit of open files, after Node.js has raised it as far as the system allows. */
function openFilesLimit(): number {
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork?: boolean }
  // Without this the report looks up host names of addresses, which may take seconds.
  report.excludeNetwork = true
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | 'unlimited' } } }
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
}
