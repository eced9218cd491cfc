import { mutatedPolicies } from './mutated-policies.ts'

mutatedPolicies(160)
