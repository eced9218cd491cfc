import type { Reporter, TestModule } from 'vitest/node'

/** A file that runs for so long is named, and again after as long. */
const PATIENCE_MS = 300_000

/**
 * Names the files that run for minutes, each with its first test that has not ended. A test that never gives its event loop back is
 * not ended by its timeout, and a run that is then killed from outside would say nothing of it.
 */
export class NamesHangs implements Reporter {
  readonly #running = new Map<string, { since: number; module: TestModule }>()
  #timer: NodeJS.Timeout | undefined

  onTestRunStart(): void {
    this.#timer = setInterval(() => this.#look(), PATIENCE_MS / 10)
    this.#timer.unref()
  }

  onTestModuleQueued(module: TestModule): void {
    this.#running.set(module.moduleId, { since: performance.now(), module })
  }

  /** The module with its tests is another object than the one that was queued. */
  onTestModuleCollected(module: TestModule): void {
    const file = this.#running.get(module.moduleId)
    if (file !== undefined) file.module = module
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    this.#running.delete(moduleId)
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const now = performance.now()
    for (const file of this.#running.values()) {
      if (now - file.since < PATIENCE_MS) continue
      file.since = now
      const [first] = file.module.children.allTests('pending')
      const test = first === undefined ? 'no test of it has begun' : `first pending test: ${first.fullName}`
      console.error(`runs for over ${PATIENCE_MS / 60_000} minutes: ${file.module.relativeModuleId}, ${test}`)
    }
  }
}
