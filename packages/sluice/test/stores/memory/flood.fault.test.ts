import { floods } from './floods.ts'

floods(12_000, 10_000)
