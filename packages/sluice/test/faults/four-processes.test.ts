import { fourProcesses } from './four-processes.ts'

fourProcesses(1_500)
