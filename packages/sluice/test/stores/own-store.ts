import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { Store } from '../../src/stores/store.ts'

/** A store as a class: methods that need their `this`. */
export class OwnStore implements Store {
  readonly #inner = memoryStore()
  readonly name = 'own'
  readonly capabilities = this.#inner.capabilities
  decide(...given: Parameters<Store['decide']>) {
    return this.#inner.decide(...given)
  }
  decideNow(...given: Parameters<NonNullable<Store['decideNow']>>) {
    return this.#inner.decideNow(...given)
  }
  change(...given: Parameters<Store['change']>) {
    return this.#inner.change(...given)
  }
  laneOf() {
    return this.name
  }
  ready() {
    return this.#inner.ready()
  }
  close() {
    return this.#inner.close()
  }
}
