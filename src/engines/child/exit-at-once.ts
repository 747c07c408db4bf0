/**
 * Ends the process though a file operation of it hangs, as one on a network disk may: `process.exit` waits for the thread
 * that hangs, the kernel does not. What is written to standard output must be out before.
 */
import { koffi } from '../koffi.ts'

export function exitAtOnce(code: number): never {
  // On Windows there is no such function under this name, and nothing that would have to wait.
  if (process.platform !== 'win32') koffi.load(null).func('_exit', 'void', ['int'])(code)
  process.exit(code)
}
