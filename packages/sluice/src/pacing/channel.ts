import { LimiterError } from '../errors/limiter-error.ts'
import { checkOptions, SIGNAL } from '../errors/options.ts'
import { type ExchangeParts, Exchange } from './exchange.ts'
import { stoppable } from './stoppable.ts'

/** Options of `put` and `take`. */
export interface ChannelWait {
  /** Ends the wait: the call then rejects with the signal's reason, and has put or taken nothing. */
  readonly signal?: AbortSignal
}

/**
 * A bounded queue between tasks, whose items can be taken no faster than a limit allows. It has the rules of channels in Clojure's
 * core.async. Items come out in the order in which they went in, and go to takers in the order of their calls. Iterating over the channel
 * takes items until the channel ends. A consumer that stops iterating leaves the channel open.
 */
export interface Channel<Item> extends AsyncIterable<Item> {
  /**
   * Resolves when the channel has the item: at once while fewer than `capacity` items are in the channel, otherwise when an item is taken.
   * Rejects with CLOSED after `close`, and with OVERLOAD if `maxWaiting` puts wait already. Rejects for the item undefined, because `take`
   * returns undefined at the end of the channel.
   */
  put(item: Item, options?: ChannelWait): Promise<void>
  /**
   * Resolves with the next item when its turn comes, or with undefined when the channel is closed and empty. A turn is taken only when an
   * item is there. Rejects with OVERLOAD if `maxWaiting` takes wait already, or if the turn would come later than `maxWaitMs`. The item
   * then stays in the channel.
   */
  take(options?: ChannelWait): Promise<Item | undefined>
  /** Ends the channel: it accepts no more items. Items in the channel, and those of puts that wait already, can still be taken. */
  close(): void
  /** The number of items in the channel, including those of puts that wait. */
  readonly size: number
}

const FORMS = { signal: SIGNAL }

export function createChannel<Item>(parts: ExchangeParts): Channel<Item> {
  const exchange = new Exchange<Item>(parts)
  /** Checks a call's options. @throws LimiterError for wrong options, and the reason of a signal that has aborted */
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
