// @ts-check
/**
 * The limit that the server is measured against: N sequences decoded in one running batch by a bare loop over
 * llama.cpp's C interface with llama.cpp's own sampler chain. No scheduler, no requests, no text, no other process.
 * Prints one line of JSON. Usage: node bench/raw-loop.mjs MODEL.gguf SEQUENCES NEW_TOKENS THREADS [off|auto]
 */
import koffi from 'koffi'
import { rawLoopPrompt } from './measure-raw-loop.mjs'
import { openNativeLoop } from './native-loop.mjs'

const [modelPath = '', sequencesWord = '8', newTokensWord = '128', threadsWord = '2', gpu = 'off'] =
  process.argv.slice(2)
const sequences = Number(sequencesWord)
const newTokens = Number(newTokensWord)
const threads = Number(threadsWord)
/** All prompts in the first step. */
const maxStepTokens = Math.max(512, sequences * 64)

const { api, llama, model, context, batch } = openNativeLoop({
  ...{ modelPath, sequences, threads, maxStepTokens },
  gpu: gpu === 'auto' ? 'auto' : 'off',
})

const chainParams = koffi.struct({ no_perf: 'bool' })
const chainInit = llama.func('llama_sampler_chain_init', 'void *', [chainParams])
const chainAdd = llama.func('llama_sampler_chain_add', 'void', ['void *', 'void *'])
const topK = llama.func('llama_sampler_init_top_k', 'void *', ['int32'])
const topP = llama.func('llama_sampler_init_top_p', 'void *', ['float', 'size_t'])
const temperature = llama.func('llama_sampler_init_temp', 'void *', ['float'])
const dist = llama.func('llama_sampler_init_dist', 'void *', ['uint32'])
const sample = llama.func('llama_sampler_sample', 'int32', ['void *', 'void *', 'int32'])

/** @param {number} seed */
function createChain(seed) {
  const chain = chainInit({ no_perf: true })
  for (const sampler of [topK(40), topP(0.95, 1), temperature(0.8), dist(seed)]) chainAdd(chain, sampler)
  return chain
}

const vocab = api.modelVocab(model)
const running = Array.from({ length: sequences }, (_, slotId) => {
  const text = Buffer.from(rawLoopPrompt(slotId))
  const ids = new Int32Array(256)
  const count = api.tokenize(vocab, text, text.length, ids, ids.length, true, true)
  return { slotId, tokenIds: [...ids.subarray(0, count)], position: 0, chain: createChain(slotId) }
})

const startedMs = performance.now()
for (let made = 0; made < newTokens; made++) {
  const status = api.decode(
    context,
    batch.fill(running.map((sequence) => ({ ...sequence, wantsToken: true }))),
  )
  if (status !== 0) throw new Error(`llama_decode: ${status}`)
  let row = -1
  for (const sequence of running) {
    row += sequence.tokenIds.length
    sequence.position += sequence.tokenIds.length
    sequence.tokenIds = [sample(sequence.chain, context, row)]
  }
}
const seconds = (performance.now() - startedMs) / 1000
process.stdout.write(`${JSON.stringify({ tokensPerSecond: (sequences * newTokens) / seconds })}\n`)
