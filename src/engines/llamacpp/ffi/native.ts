/**
 * koffi, set up: everything here that calls native code imports it from this file, because its settings can only be
 * made before the first library is loaded.
 */
import koffi from 'koffi'

// Tokenizers built on std::regex recurse once per character (see long-runs.ts); koffi's usual stack is 2 MiB.
const CALL_STACK_BYTES = 16 * 2 ** 20

if (koffi.config().sync_stack_size !== CALL_STACK_BYTES) koffi.config({ sync_stack_size: CALL_STACK_BYTES })

export { koffi }
