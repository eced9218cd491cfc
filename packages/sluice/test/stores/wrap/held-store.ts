import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import type { CallOptions, Store } from '../../../src/stores/store.ts'
import type { Time } from '../../../src/time/time.ts'

/** One call that has arrived at the store and is answered when the test says so. */
export interface HeldCall {
  readonly verb: string
  /** Keys of its states. */
  readonly keys: readonly string[]
  readonly options: CallOptions | undefined
  /** Decides it now. */
  answer(): Promise<void>
  fail(error: Error): Promise<void>
}

export interface HeldStore {
  readonly store: Store
  /** In the order in which they were sent. */
  readonly calls: HeldCall[]
  /** Answers what is held, and what arrives then, until nothing does. */
  answerAll(): Promise<void>
}

/** A memory store at the far end of a wire that the test holds in its hand. */
export function heldStore(clock: Time, inner: Store = memoryStore({ clock })): HeldStore {
  const calls: HeldCall[] = []
  const hold = <T>(verb: string, keys: readonly string[], options: CallOptions | undefined, run: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      calls.push({
        verb,
        keys,
        options,
        answer: async () => {
          options?.heard?.()
          await run().then(resolve, reject)
          await settle()
        },
        fail: async (error) => {
          reject(error)
          await settle()
        },
      })
    })
  const { consumeSync: _, ...rest } = inner
  const store: Store = {
    ...rest,
    name: 'held',
    capabilities: { ...inner.capabilities, clock: 'server', sync: false },
    consume: (groups, options) => hold('consume', keysOf(groups), options, () => inner.consume(groups)),
    peek: (groups, options) => hold('peek', keysOf(groups), options, () => inner.peek(groups)),
    adjust: (asked, amounts, options) =>
      hold(
        'adjust',
        asked.map(({ id }) => id.key),
        options,
        async () => inner.adjust?.(asked, amounts),
      ),
    block: (ids, duration, options) =>
      hold(
        'block',
        ids.map(({ key }) => key),
        options,
        async () => inner.block?.(ids, duration),
      ),
    reset: (ids, options) =>
      hold(
        'reset',
        ids.map(({ key }) => key),
        options,
        () => inner.reset(ids),
      ),
    ...(inner.lease === undefined
      ? {}
      : {
          lease: (requests, options) =>
            hold(
              'lease',
              requests.map(({ call }) => call.id.key),
              options,
              () => (inner as Required<Store>).lease(requests),
            ),
        }),
  }
  return {
    store,
    calls,
    async answerAll() {
      await settle()
      for (let call = calls.shift(); call !== undefined; call = calls.shift()) await call.answer()
    },
  }
}

function keysOf(groups: readonly { calls: readonly { id: { key: string } }[] }[]): string[] {
  return groups.flatMap(({ calls }) => calls.map(({ id }) => id.key))
}

/** Lets every promise that can go on go on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}
