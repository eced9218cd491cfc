import type { Log } from './log.ts'

export function draining(log: Log, signal: NodeJS.Signals): () => void {
  const begun = performance.now()
  log('info', 'draining', `${signal}: answers under way finish, then the service stops`, { signal })
  return () => {
    const tookMs = Math.round(performance.now() - begun)
    log('info', 'stopped', `stopped after ${tookMs / 1_000} s`, { tookMs })
  }
}
