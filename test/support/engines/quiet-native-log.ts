/** llama.cpp logs to the process's standard error; in a test process nobody reads it. */
import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'

closeSync(2)
// The lowest free descriptor is the one that was just closed.
openSync(devNull, 'a')
