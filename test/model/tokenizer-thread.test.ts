/** Long prompts that a thread of the engine process tokenizes with the vocabulary of the model that is loaded there. */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type * as Threads from '../../src/engines/llamacpp/tokenizing/tokenizer-thread.ts'
import { packPrompt } from '../../src/engines/tokenizing/packed-prompt.ts'
import type { TokenizingJob } from '../../src/protocol/model-runner.ts'
import { openForLogits } from '../support/engines/model-logits.ts'
import { BOS_TEXT, EOS_TEXT, writeTinyModel } from '../support/engines/llamacpp-tiny-model.ts'

/** Built, because Node starts no thread from TypeScript in every version. */
const BUILT = '../../dist/engines/llamacpp/tokenizing/tokenizer-thread.js'
const folder = mkdtempSync(path.join(os.tmpdir(), 'tokenizer-thread-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function finish(job: TokenizingJob) {
  let outcome = null
  while (outcome === null) outcome = await job.advance()
  return outcome
}

describe.each(['bpe', 'spm'] as const)('a %s vocabulary in a thread', (vocabulary) => {
  let model: ReturnType<typeof openForLogits>
  let thread: Threads.TokenizerThread

  beforeAll(async () => {
    const modelPath = path.join(folder, `${vocabulary}.gguf`)
    writeTinyModel(modelPath, { vocabulary })
    model = openForLogits({ modelPath, maxSeqLen: 256 })
    const { TokenizerThread } = (await import(BUILT)) as typeof Threads
    thread = new TokenizerThread({ gpu: 'off', vocabulary: model.vocabulary.data, maxSeqLen: 1_000_000 })
  })
  afterAll(async () => {
    await thread.close()
    model.close()
  })

  it('gives the same tokens, whichever way a prompt comes', async () => {
    const prompts = [
      { pieces: ['the cat '.repeat(4000), `${BOS_TEXT}the${EOS_TEXT} `.repeat(2000)], addSpecial: true },
      { pieces: ['', 'é漢😀 the', EOS_TEXT], addSpecial: false },
    ]
    for (const prompt of prompts) {
      for (const given of [prompt, packPrompt(prompt)]) {
        expect(await finish(thread.begin(given))).toEqual(model.vocabulary.tokenize(prompt))
      }
    }
  })

  it('says why a prompt has no tokens', async () => {
    const job = thread.begin({ pieces: [''], addSpecial: false })
    expect(await finish(job)).toMatchObject({ code: 'prompt_empty', status: 400 })
  })

  it('counts no further than twice what the context holds', async () => {
    const { TokenizerThread } = (await import(BUILT)) as typeof Threads
    const maxSeqLen = 1000
    const small = new TokenizerThread({ gpu: 'off', vocabulary: model.vocabulary.data, maxSeqLen })
    onTestFinished(() => small.close())
    const exact = small.begin({ pieces: [BOS_TEXT.repeat(2000)], addSpecial: false })
    expect(await finish(exact)).toHaveLength(2000)
    const endless = small.begin({ pieces: [BOS_TEXT.repeat(1_000_000)], addSpecial: false })
    expect(await finish(endless)).toMatchObject({
      code: 'context_length_exceeded',
      params: { max: maxSeqLen, given: 'at least 2016' },
    })
  })

  it('forgets a prompt that is dropped between two slices', async () => {
    const job = thread.begin({ pieces: ['the cat '.repeat(200_000)], addSpecial: true })
    expect(await job.advance()).toBeNull()
    job.drop()
    await expect(job.advance()).rejects.toThrow('no prompt')
  })
})
