import { mutatedPolicies } from './mutated-policies.ts'

mutatedPolicies(10_000)
