import type { Reporter, TestModule } from 'vitest/node'

/** In milliseconds: a test file that has run for this long is named, and again each time as much has passed. */
const PATIENCE_MS = 300_000

/**
 * Names test files that run for minutes, each with its first test that has not ended. A test that blocks its event loop is not ended by its
 * timeout. If such a run is then killed, nothing else says which test it was.
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

  /** The module that has the tests is another object than the module that was queued. It replaces the queued one. */
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
