import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import { grantLease, leasedBucketKernel, type LeasedState } from '../../algorithms/leased-bucket.ts'
import type { Micros } from '../../time/micros.ts'
import { InvalidReply } from '../batch/replay.ts'
import type { LeaseAnswer, LeaseRequest } from '../store.ts'
import { readReply } from './reply.ts'
import { NEWER_ENDS, readValue } from './value.ts'

const WIDTH = 10

/** Encodes requests in the form that lease.lua documents. */
export function leaseArgument(requests: readonly LeaseRequest[], now: Micros): string {
  const numbers = requests.flatMap(({ call, want, holder, sequence, life, kept, returned }) => {
    const { n, m, burst } = call.limit.plan as BucketPlan
    return [n, m, burst, call.cost, want, holder, sequence, life, kept, returned]
  })
  return `[${[now, WIDTH, ...numbers].join(',')}]`
}

/** @throws InvalidReply also if program and kernel granted different amounts */
export function replayLeases(requests: readonly LeaseRequest[], reply: unknown): LeaseAnswer[] {
  const { now, values, next } = readReply(reply, requests.length, 0)
  return requests.map((request, index) => {
    const answer = answerOf(request, values[index] as Uint8Array | null, now)
    if (answer.granted !== next()) throw new InvalidReply()
    return answer
  })
}

function answerOf({ call, ...request }: LeaseRequest, found: Uint8Array | null, now: Micros): LeaseAnswer {
  const { tag, numbers, ends } = readValue(found)
  const plan = call.limit.plan as BucketPlan
  const stored = tag === 'tb' && numbers !== undefined ? leasedBucketKernel.codec.decodeState(numbers, plan) : undefined
  const adopted: LeasedState | undefined = stored === undefined ? undefined : leasedBucketKernel.adopt(plan, stored, now, 0)
  const wait = (numbers === undefined || tag === 'tb' ? ends : 0) - now
  const grant = grantLease(plan, adopted, now, { ...request, want: wait > 0 ? 0 : request.want, cost: call.cost })
  const { granted, outcome, retryAfter, remaining, replenishAfter, resetAfter } = grant
  const verdict = { outcome, retryAfter, remaining, replenishAfter, resetAfter }
  if (wait <= 0) return { granted, at: now, verdict }
  // A newer version of Sluice wrote the state. After `allowed` the caller calls `decide`, which reports this failure.
  if (ends === NEWER_ENDS) return { granted, at: now, verdict: { ...verdict, outcome: 'allowed', retryAfter: 0 } }
  return { granted, at: now, verdict: { ...verdict, outcome: 'denied', retryAfter: Math.max(wait, retryAfter), blockedFor: wait } }
}
