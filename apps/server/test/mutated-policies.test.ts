import { mutatedPolicies } from './mutated-policies.ts'

mutatedPolicies(1_000)
