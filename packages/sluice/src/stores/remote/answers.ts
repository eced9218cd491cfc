import { type Failed, failedBy, StoreFailure } from '../store.ts'

export interface Answered {
  readonly failure?: StoreFailure | undefined
}

export const NONSENSE = 'an answer that makes no sense'

/** Whether a reply of the store has the form of an answer: a list of `size` objects. */
export function isAnswer(answers: unknown, size: number): boolean {
  return Array.isArray(answers) && answers.length === size && answers.every((answer) => typeof answer === 'object' && answer !== null)
}

/** The answers to items that have all failed with the same failure. */
export function allFailed(items: readonly unknown[], failure: StoreFailure): readonly Failed[] {
  return items.map(() => ({ failure }))
}

/** Whether the call was not executed, because the server was not there or could not serve. The same call may succeed moments later. */
export function isUnsent({ kind, executed }: StoreFailure): boolean {
  return executed === 'no' && (kind === 'connection' || kind === 'unavailable')
}

/** The answers to a caller's list, which is sent as one item of a batch; or one failure if every item of the list failed. */
export interface Listed<Answer> {
  readonly answers?: readonly (Answer | Failed)[]
  /** Set if every item of the list failed. */
  readonly failure?: StoreFailure | undefined
}

/** What the caller of a list gets. */
export function answersOf<Answer>({ answers, failure }: Listed<Answer>, items: readonly unknown[]): readonly (Answer | Failed)[] {
  return answers ?? allFailed(items, failure as StoreFailure)
}

/** Calls the store for a list. If the whole call fails, each item gets the failure of the call. */
export async function callFor<Answer extends Answered>(
  store: string,
  items: readonly unknown[],
  call: () => Promise<readonly Answer[]>,
): Promise<readonly (Answer | Failed)[]> {
  try {
    const answers = await call()
    if (isAnswer(answers, items.length)) return answers
    throw new StoreFailure('protocol', 'unknown', `${store}: ${NONSENSE}`)
  } catch (error) {
    return allFailed(items, failedBy(error).failure)
  }
}

export function listed<Answer extends Answered>(answers: readonly (Answer | Failed)[]): Listed<Answer> {
  const failures = answers.flatMap(({ failure }) => failure ?? [])
  if (failures.length < answers.length) return { answers }
  // The batcher sends a list again if its failure is `isUnsent`. So such a failure is chosen only if every item has one.
  return { answers, failure: failures.find((failure) => !isUnsent(failure)) ?? failures[0] }
}
