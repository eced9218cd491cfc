import type { StoreEvent } from '../../observe/events.ts'
import type { CallOptions, Store } from '../store.ts'

/** Sends one call, or does not; `send` takes the options that it is to have. */
export type RunCall = <Options extends CallOptions, Answer>(
  operation: StoreEvent['operation'],
  options: Options | undefined,
  send: (options: Options | undefined) => Promise<Answer>,
) => Promise<Answer>

/** A store whose every call goes through one function. What the store lacks is lacking; `consumeSync`, `close` and what it says of itself are the store's own. */
export function eachCall(store: Store, run: RunCall): Store {
  const adjust = store.adjust?.bind(store)
  const block = store.block?.bind(store)
  const lease = store.lease?.bind(store)
  return {
    ...(store.name === undefined ? {} : { name: store.name }),
    capabilities: store.capabilities,
    ...(store.slotOf === undefined ? {} : { slotOf: store.slotOf.bind(store) }),
    consume: (groups, options) => run('consume', options, (chosen) => store.consume(groups, chosen)),
    ...(store.consumeSync === undefined ? {} : { consumeSync: store.consumeSync.bind(store) }),
    ...(store.consumeHere === undefined ? {} : { consumeHere: store.consumeHere.bind(store) }),
    peek: (groups, options) => run('peek', options, (chosen) => store.peek(groups, chosen)),
    ...(adjust === undefined
      ? {}
      : { adjust: (calls, amounts, options) => run('adjust', options, (chosen) => adjust(calls, amounts, chosen)) }),
    ...(block === undefined ? {} : { block: (ids, duration, options) => run('block', options, (chosen) => block(ids, duration, chosen)) }),
    ...(lease === undefined ? {} : { lease: (requests, options) => run('lease', options, (chosen) => lease(requests, chosen)) }),
    reset: (ids, options) => run('reset', options, (chosen) => store.reset(ids, chosen)),
    ready: (options) => run('ready', options, (chosen) => store.ready(chosen)),
    close: () => store.close(),
  }
}
