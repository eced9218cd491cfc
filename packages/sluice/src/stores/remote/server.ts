import type { Deadlines } from '../../time/deadlines.ts'
import type { MonotonicInstant, Random, Time } from '../../time/time.ts'
import { type CallGroup, type Failed, type Store, StoreFailure } from '../store.ts'
import { Breaker, type BreakerOptions } from './breaker.ts'

export interface Answered {
  readonly failure?: StoreFailure | undefined
}

export interface ServerParts {
  readonly store: Store
  readonly clock: Time
  readonly deadlines: Deadlines
  readonly random: Random
  /** Absent: calls are never refused. */
  readonly breaker: Required<BreakerOptions> | undefined
  /** Called when the server has answered or failed. */
  readonly onReply: () => void
}

/** Milliseconds after its deadline at which a call that never settled has failed. */
const DROP_MS = 5

/** A server, or several that fail together. Its breaker counts the calls to it. */
export class Server {
  readonly breaker: Breaker | undefined
  /** What probes peek at. */
  sample: CallGroup | undefined
  readonly #parts: ServerParts

  constructor(parts: ServerParts, onOpen: (refusal: StoreFailure) => void) {
    const { store, breaker, clock, random } = parts
    this.#parts = parts
    const probe = (ms: number): Promise<boolean> => this.#probe(ms)
    this.breaker = breaker && new Breaker({ ...breaker, name: store.name, clock, random, onOpen, probe })
  }

  /**
   * Calls the server for so many items, and counts the call: it failed if it did for every item. What may be sent again has not failed yet:
   * the batcher reports it when callers give up. A timeout counts only if `isPrompt`. Rejects for defects only.
   */
  call<T extends Answered>(
    size: number,
    deadline: MonotonicInstant,
    isPrompt: boolean,
    send: () => Promise<readonly T[]>,
  ): Promise<readonly (T | Failed)[]> {
    const { deadlines, onReply, store } = this.#parts
    return new Promise((resolve, reject) => {
      let isOpen = true
      const end = (answers: readonly (T | Failed)[]): void => {
        if (!isOpen) return
        isOpen = false
        cancel()
        onReply()
        this.#count(answers, isPrompt)
        resolve(answers)
      }
      const fail = (kind: 'timeout' | 'protocol', why: string): void => failed(new StoreFailure(kind, 'unknown', `${store.name}: ${why}`))
      const failed = (error: unknown): void => {
        if (error instanceof StoreFailure) return end(Array.from({ length: size }, () => ({ failure: error })))
        cancel()
        onReply()
        reject(error)
      }
      const cancel = deadlines.add(deadline + DROP_MS, () => fail('timeout', 'no answer'))
      try {
        send().then((answers) => {
          if (isAnswer(answers, size)) end(answers)
          else fail('protocol', `an answer to ${size} calls that makes no sense`)
        }, failed)
      } catch (error) {
        failed(error)
      }
    })
  }

  /** Callers had no time for what failed to be sent again. */
  gaveUp(failure: StoreFailure): void {
    this.#parts.onReply()
    this.breaker?.failed(failure)
  }

  #count(answers: readonly Answered[], isPrompt: boolean): void {
    const failure = answers.every((answer) => answer.failure !== undefined) ? answers[0]?.failure : undefined
    if (failure === undefined) this.breaker?.succeeded()
    else if (!isUnsent(failure) && (isPrompt || failure.kind !== 'timeout')) this.breaker?.failed(failure)
  }

  /** A call that charges nothing; whether the server works. */
  async #probe(deadlineMs: number): Promise<boolean> {
    const { store, clock } = this.#parts
    const deadline = clock.monotonic() + deadlineMs
    const { sample } = this
    const [answer] = await this.call<Answered>(1, deadline, true, () =>
      sample === undefined ? store.ready({ deadline }).then(() => [{}]) : store.decide([sample], { charge: false, deadline }),
    )
    return answer?.failure === undefined
  }
}

/** Whether it was not executed, because the server was not there or could not serve: moments later it may. */
export function isUnsent({ kind, executed }: StoreFailure): boolean {
  return executed === 'no' && (kind === 'connection' || kind === 'unavailable')
}

function isAnswer(answers: unknown, size: number): boolean {
  return Array.isArray(answers) && answers.length === size && answers.every((answer) => typeof answer === 'object' && answer !== null)
}
