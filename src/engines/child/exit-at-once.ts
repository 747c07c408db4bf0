/**
 * Ends the process without Node's shutdown, which waits for every thread (`process.exit` too): for one whose file operation
 * hangs, as on a network disk, and for one of V8's that compiles and waits itself for a garbage collection of the main thread
 * (https://github.com/nodejs/node/issues/54918; seen with Node 20.20). What is written to
 * standard output must be out before.
 */
import { standardError } from '../../core/standard-error.ts'
import { koffi } from '../koffi.ts'

export function exitAtOnce(code: number): never {
  standardError.flushAtExit()
  // On Windows there is no such function under this name.
  if (process.platform !== 'win32') koffi.load(null).func('_exit', 'void', ['int'])(code)
  process.exit(code)
}
