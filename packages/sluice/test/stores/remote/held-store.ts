import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { type CallGroup, type CallOptions, changedState, type DecideOptions, type Store } from '../../../src/stores/store.ts'
import type { Time } from '../../../src/time/time.ts'

/** A call that has arrived at the store. It is answered only when the test says so. */
export interface HeldCall {
  readonly verb: 'decide' | 'peek' | 'change' | 'lease'
  /** Keys of its states. */
  readonly keys: readonly string[]
  readonly options: DecideOptions | undefined
  /** Decides it now. */
  answer(): Promise<void>
  /** Answers with this instead. */
  answerWith(value: unknown): Promise<void>
  fail(error: Error): Promise<void>
}

export interface HeldStore {
  readonly store: Store
  /** In the order in which they were sent. */
  readonly calls: HeldCall[]
  /** Answers what is held, and what arrives then, until nothing does. */
  answerAll(): Promise<void>
}

/** A memory store behind a simulated network, on which a test holds every call back. */
export function heldStore(clock: Time, inner: Store = memoryStore({ clock })): HeldStore {
  const calls: HeldCall[] = []
  const hold = <T>(
    verb: HeldCall['verb'],
    keys: readonly string[],
    options: CallOptions | undefined,
    run: () => Promise<readonly T[]>,
  ): Promise<readonly T[]> =>
    new Promise((resolve, reject) => {
      calls.push({
        verb,
        keys,
        options,
        async answer() {
          await run().then(resolve, reject)
          await settle()
        },
        async answerWith(value) {
          resolve(value as readonly T[])
          await settle()
        },
        async fail(error) {
          reject(error)
          await settle()
        },
      })
    })
  const { decideNow: _, lease, ...rest } = inner
  const store: Store = {
    ...rest,
    name: 'held',
    capabilities: { ...inner.capabilities, clock: 'server', sync: false },
    decide(groups, options) {
      const charge = options?.charge ?? true
      return hold(charge ? 'decide' : 'peek', keysOf(groups), options, () => inner.decide(groups, { charge }))
    },
    change: (changes, options) =>
      hold(
        'change',
        changes.map((change) => changedState(change).key),
        options,
        () => inner.change(changes),
      ),
    ...(lease && {
      lease: (requests, options) =>
        hold(
          'lease',
          requests.map(({ call }) => call.id.key),
          options,
          () => lease(requests),
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

export function keysOf(groups: readonly CallGroup[]): string[] {
  return groups.flatMap(({ calls }) => calls.map(({ id }) => id.key))
}

/** Lets every promise that can go on go on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}
