// @ts-check
/**
 * The limit that the server is measured against: N sequences decoded side by side by a bare loop over llama.cpp's C
 * interface with llama.cpp's own sampler chain. No scheduler, no requests, no text, no other process. It does what a server
 * has to compute for clients that ask again and again, in the best order: all sequences begin and end together, the
 * prompts in one step, and what a prompt has in common with the one before it in its place is kept.
 * Prints one line of JSON. Usage: node bench/loops/raw-loop.mjs OPTIONS (JSON, see measure-raw-loop.mjs)
 */
import koffi from 'koffi'
import { rawLoopPrompt } from './measure-raw-loop.mjs'
import { openNativeLoop } from './native-loop.mjs'

/** @type {import('./measure-raw-loop.mjs').RawLoopOptions} */
const { modelPath, sequences, turns, newTokens, threads, gpu, sampling } = JSON.parse(process.argv[2] ?? '')
const MAX_PROMPT_TOKENS = 64
/** All prompts in the first step. */
const maxStepTokens = Math.max(512, sequences * MAX_PROMPT_TOKENS)

const { api, llama, model, context, batch } = openNativeLoop({
  ...{ modelPath, sequences, threads, maxStepTokens, gpu },
})

const chainParams = koffi.struct({ no_perf: 'bool' })
const chainInit = llama.func('llama_sampler_chain_init', 'void *', [chainParams])
const chainAdd = llama.func('llama_sampler_chain_add', 'void', ['void *', 'void *'])
const topK = llama.func('llama_sampler_init_top_k', 'void *', ['int32'])
const topP = llama.func('llama_sampler_init_top_p', 'void *', ['float', 'size_t'])
const temperature = llama.func('llama_sampler_init_temp', 'void *', ['float'])
const dist = llama.func('llama_sampler_init_dist', 'void *', ['uint32'])
const sample = llama.func('llama_sampler_sample', 'int32', ['void *', 'void *', 'int32'])

/** @param {string} message @returns {never} */
function fail(message) {
  throw new Error(message)
}

/** @param {number} seed */
function createChain(seed) {
  const chain = chainInit({ no_perf: true })
  if (sampling.top_k > 0) chainAdd(chain, topK(sampling.top_k))
  if (sampling.top_p < 1) chainAdd(chain, topP(sampling.top_p, 1))
  chainAdd(chain, temperature(sampling.temperature))
  chainAdd(chain, dist(seed))
  return chain
}

const vocab = api.modelVocab(model)
const memory = api.contextMemory(context) ?? fail('the model keeps no KV cache')
const slots = Array.from({ length: sequences }, (_, slotId) => ({
  slotId,
  chain: createChain(slotId),
  /** What the KV cache holds of the prompt. @type {number[]} */
  prompt: [],
}))

/** @param {number} number @returns {number[]} */
function tokenize(number) {
  const text = Buffer.from(rawLoopPrompt(number))
  const ids = new Int32Array(MAX_PROMPT_TOKENS)
  const count = api.tokenize(vocab, text, text.length, ids, ids.length, true, true)
  // Negative where they do not fit.
  if (count < 0) fail(`the prompt has ${-count} tokens, more than ${MAX_PROMPT_TOKENS}`)
  return [...ids.subarray(0, count)]
}

/** Drops what a slot holds but for what its next prompt begins with, and tells what is to be computed. @param {typeof slots[0]} slot @param {number[]} prompt */
function begin(slot, prompt) {
  const differs = prompt.findIndex((id, i) => id !== slot.prompt[i])
  const position = Math.min(differs === -1 ? prompt.length : differs, prompt.length - 1)
  api.memorySeqRm(memory, slot.slotId, position, -1)
  slot.prompt = prompt
  return { slotId: slot.slotId, tokenIds: prompt.slice(position), position, chain: slot.chain }
}

/** An answer of each sequence to a prompt of its own. @param {number} turn @param {number} tokens */
function takeTurn(turn, tokens) {
  const running = slots.map((slot) => begin(slot, tokenize(turn * sequences + slot.slotId)))
  for (let made = 0; made < tokens; made++) {
    const runs = running.map((run) => ({ ...run, wantsToken: true }))
    const status = api.decode(context, batch.fill(runs))
    if (status !== 0) throw new Error(`llama_decode: ${status}`)
    let row = -1
    for (const run of running) {
      row += run.tokenIds.length
      run.position += run.tokenIds.length
      run.tokenIds = [sample(run.chain, context, row)]
    }
  }
}

/** As the servers, which are warm: pages are there and a prompt has something to begin with. */
takeTurn(0, Math.min(newTokens, 16))
const startedMs = performance.now()
for (let turn = 1; turn <= turns; turn++) takeTurn(turn, newTokens)
const seconds = (performance.now() - startedMs) / 1000
process.stdout.write(`${JSON.stringify({ tokensPerSecond: (turns * sequences * newTokens) / seconds })}\n`)
