import { type Failed, failedBy, StoreFailure } from '../store.ts'

export interface Answered {
  readonly failure?: StoreFailure | undefined
}

export const NONSENSE = 'an answer that makes no sense'

export function isAnswer(answers: unknown, size: number): boolean {
  return Array.isArray(answers) && answers.length === size && answers.every((answer) => typeof answer === 'object' && answer !== null)
}

export function allFailed(items: readonly unknown[], failure: StoreFailure): readonly Failed[] {
  return items.map(() => ({ failure }))
}

/** Whether the server was not reached or could not serve. The same call may succeed moments later. */
export function isUnsent({ kind, executed }: StoreFailure): boolean {
  return executed === 'no' && (kind === 'connection' || kind === 'unavailable')
}

/** The answers to a list that is sent as one item of a batch. */
export interface Listed<Answer> {
  readonly answers?: readonly (Answer | Failed)[]
  readonly failure?: StoreFailure | undefined
}

export function answersOf<Answer>({ answers, failure }: Listed<Answer>, items: readonly unknown[]): readonly (Answer | Failed)[] {
  return answers ?? allFailed(items, failure as StoreFailure)
}

/** If `call` rejects, each item gets that failure. */
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
  // A list is sent again if `isUnsent(failure)`, so such a failure is chosen only if every item has one.
  return { answers, failure: failures.find((failure) => !isUnsent(failure)) ?? failures[0] }
}
