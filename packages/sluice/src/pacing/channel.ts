import { LimiterError } from '../errors/limiter-error.ts'
import { checkOptions, SIGNAL } from '../errors/options.ts'
import { type ExchangeParts, Exchange } from './exchange.ts'
import { stoppable } from './stoppable.ts'

/** Options of `put` and `take`. */
export interface ChannelWait {
  /** Ends the wait: the call rejects with the signal's reason, and has put or taken nothing. */
  readonly signal?: AbortSignal | undefined
}

/**
 * A bounded queue between tasks, whose items can be taken no faster than a limit allows, like the channels of Clojure's core.async. Items
 * and takers keep their order. A consumer that stops iterating leaves the channel open.
 */
export interface Channel<Item> extends AsyncIterable<Item> {
  /**
   * Resolves when the channel has room for the item. Rejects with CLOSED after `close`, and with OVERLOAD if `maxWaiting` puts wait
   * already. The item may not be undefined, which `take` returns at the end.
   */
  put(item: Item, options?: ChannelWait): Promise<void>
  /**
   * Resolves when the turn of the next item comes, or with undefined when the channel is closed and empty. Rejects with OVERLOAD if
   * `maxWaiting` takes wait already, or if the turn would come later than `maxWaitMs`: the item then stays.
   */
  take(options?: ChannelWait): Promise<Item | undefined>
  /** Accepts no more items. Those in the channel, and those of waiting puts, can still be taken. */
  close(): void
  /** Items in the channel, including those of puts that wait. */
  readonly size: number
}

const FORMS = { signal: SIGNAL }

export function createChannel<Item>(parts: ExchangeParts): Channel<Item> {
  const exchange = new Exchange<Item>(parts)
  const requireOpen = (what: string, own: ChannelWait): void => {
    checkOptions(`channel.${what}`, own, FORMS)
    parts.signal?.throwIfAborted()
    own.signal?.throwIfAborted()
  }
  const take = async (own: ChannelWait = {}): Promise<Item | undefined> => {
    requireOpen('take', own)
    return exchange.take(own.signal)
  }
  return {
    get size() {
      return exchange.size
    },
    async put(item, own = {}) {
      requireOpen('put', own)
      if (item === undefined)
        throw new LimiterError('INVALID_OPTIONS', 'channel.put: the item is undefined, expected any other value: undefined means the end')
      return exchange.put(item, own.signal)
    },
    take,
    close: () => exchange.close(),
    [Symbol.asyncIterator]: () =>
      stoppable(async function* (stopped) {
        for (let item = await take({ signal: stopped }); item !== undefined; item = await take({ signal: stopped })) yield item
      }, undefined),
  }
}
