/**
 * koffi with its settings, which can only be made before the first library is loaded: whatever calls native code imports it
 * from here.
 */
import koffi from 'koffi'

// Tokenizers built on std::regex recurse once per character (see llamacpp/tokenizing/long-runs.ts); koffi's usual stack is 2 MiB.
const CALL_STACK_BYTES = 16 * 2 ** 20
// Of calls in another thread, which get 256 KiB otherwise.
const ASYNC_CALL_STACK_BYTES = 2 * 2 ** 20

if (koffi.config().sync_stack_size !== CALL_STACK_BYTES) {
  koffi.config({ sync_stack_size: CALL_STACK_BYTES, async_stack_size: ASYNC_CALL_STACK_BYTES })
}

export { koffi }
