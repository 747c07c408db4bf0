/**
 * Ends the process without Node's shutdown, which waits for every thread (`process.exit` too): for one whose file operation
 * hangs, as on a network disk, and for one of V8's that compiles and waits itself for a garbage collection of the main thread
 * (https://github.com/nodejs/node/issues/54918; seen with Node 20.20). What is written to
 * standard output must be out before.
 */
import { standardError } from '../../core/output/standard-error.ts'
import { koffi } from '../koffi.ts'

/** What Node writes at its shutdown. */
const WRITTEN_AT_SHUTDOWN = /--cpu-prof|--heap-prof/

export function exitAtOnce(code: number): never {
  standardError.flushAtExit()
  const options = [...process.execArgv, process.env['NODE_OPTIONS']].join(' ')
  const needsShutdown = WRITTEN_AT_SHUTDOWN.test(options) || process.env['NODE_V8_COVERAGE'] !== undefined
  // On Windows there is no such function under this name.
  if (process.platform !== 'win32' && !needsShutdown) koffi.load(null).func('_exit', 'void', ['int'])(code)
  process.exit(code)
}
