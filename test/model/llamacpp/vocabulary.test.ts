import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLlamaRunner } from '../../../src/engines/llamacpp/open-runner.ts'
import type { ModelRunner } from '../../../src/protocol/model-runner.ts'
import { BOS_TEXT, EOS_TEXT, writeTinyModel } from '../../support/engines/llamacpp-tiny-model.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'llamacpp-vocabulary-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('without a BOS of its own begins nothing with one, and has nothing to begin an empty text with', async () => {
  const modelPath = path.join(folder, 'no-bos.gguf')
  writeTinyModel(modelPath, { hasBos: false })
  const options = { modelId: 'tiny', modelPath, maxBatchSize: 1, maxSeqLen: 256, threads: 1 } as const
  const runner = await openLlamaRunner(
    { ...options, gpu: 'off', gpuLayers: null, kvCacheType: 'f16' },
    () => {},
  )
  expect(runner.info().bosText).toBe('')
  expect(() => runner.tokenize({ pieces: [''], addSpecial: true })).toThrow('prompt must not be empty')
  runner.close()
})

describe.each(['bpe', 'spm'] as const)('a %s vocabulary', (vocabulary) => {
  let runner: ModelRunner
  /** SentencePiece puts a space in front of a text. */
  const front = vocabulary === 'spm' ? ' ' : ''

  beforeAll(async () => {
    const modelPath = path.join(folder, `${vocabulary}.gguf`)
    writeTinyModel(modelPath, { vocabulary })
    runner = await openLlamaRunner(
      {
        modelId: 'tiny',
        modelPath,
        maxBatchSize: 1,
        maxSeqLen: 256,
        threads: 1,
        gpu: 'off',
        gpuLayers: null,
        kvCacheType: 'f16',
      },
      () => {},
    )
  })
  afterAll(() => runner.close())

  const tokenize = (pieces: string[], addSpecial = false) => [...runner.tokenize({ pieces, addSpecial })]
  const textOf = (tokenIds: number[]) =>
    Buffer.concat(tokenIds.map((id) => runner.tokenBytes(id))).toString('utf8')
  const tokenOf = (text: string) => tokenize([text]).at(-1)

  it('turns special texts into control tokens, which stand for no bytes', () => {
    const eos = tokenOf(EOS_TEXT) ?? -1
    expect(tokenize([EOS_TEXT])).toEqual([eos])
    expect(runner.tokenBytes(eos)).toHaveLength(0)
    expect(runner.specialTokens?.([EOS_TEXT, 'none'])).toEqual(new Map([[eos, Buffer.from(EOS_TEXT)]]))
    expect(runner.isEndOfGeneration(eos)).toBe(true)
    expect(runner.isEndOfGeneration(tokenOf('t') ?? -1)).toBe(false)
    expect(runner.info().specialTexts).toEqual(expect.arrayContaining([BOS_TEXT, EOS_TEXT]))
    expect(runner.info()).toMatchObject({ bosText: BOS_TEXT, eosText: EOS_TEXT })
  })

  it('keeps a special text that a border splits as plain text, unchanged', () => {
    const split = tokenize(['the <', '/s> end'])
    expect(split).not.toContain(tokenOf(EOS_TEXT))
    expect(textOf(split)).toBe(`${front}the </s> end`)
    expect(textOf(tokenize(['', 'the', '', '\n', ' cat', '']))).toBe(`${front}the\n cat`)
  })

  it('cuts no special text in a text without a space', () => {
    expect(tokenize([EOS_TEXT.repeat(5000)])).toEqual(Array.from({ length: 5000 }, () => tokenOf(EOS_TEXT)))
  })

  it('puts a space behind a special text as if the pieces were one', () => {
    expect(tokenize([BOS_TEXT, 'the'])).toEqual(tokenize([`${BOS_TEXT}the`]))
    expect(tokenize(['the', EOS_TEXT, ' cat'])).toEqual(tokenize([`the${EOS_TEXT} cat`]))
  })

  it('puts BOS at the front only, and only when asked', () => {
    const bos = tokenOf(BOS_TEXT)
    expect(tokenize(['the', 'cat'], true).filter((id) => id === bos)).toHaveLength(1)
    expect(tokenize(['the', 'cat'], true)[0]).toBe(bos)
    expect(tokenize(['the', 'cat'])).toEqual(tokenize(['the', 'cat'], true).slice(1))
  })

  it('begins an empty text with BOS, and has nothing to begin with when that is not wanted', () => {
    expect(tokenize([''], true)).toEqual([tokenOf(BOS_TEXT)])
    expect(tokenize([], true)).toEqual([tokenOf(BOS_TEXT)])
    expect(() => tokenize([''])).toThrow(expect.objectContaining({ code: 'prompt_empty' }))
  })

  it('gives back the bytes of any text, also of one with endless words', () => {
    for (const text of [
      'Grüße, 漢字 and 😀👩‍👩‍👧!',
      'x'.repeat(30_000),
      '\u0000\u0001\n\t',
      ' '.repeat(20_000),
    ]) {
      expect(textOf(tokenize([text]))).toBe(front + text)
    }
  })

  it('turns tokens into the text that they were, special texts included', () => {
    const texts = ['the cat', 'é漢😀 the', `the${EOS_TEXT}`, `${EOS_TEXT}the cat${EOS_TEXT}the`]
    for (const text of texts) {
      expect(runner.detokenize(tokenize([text]))).toBe(text)
      expect(runner.detokenize(tokenize([text], true))).toBe(`${BOS_TEXT}${text}`)
    }
    expect(runner.tokenText(tokenOf(EOS_TEXT) ?? -1)).toBe(EOS_TEXT)
  })

  it('bounds the bytes of one token', () => {
    expect(runner.maxTokenBytes).toBe(vocabulary === 'bpe' ? '<|user|>'.length : '<unk>'.length)
    for (let id = 0; id < runner.info().vocabSize; id++) {
      expect(runner.tokenBytes(id).length).toBeLessThanOrEqual(runner.maxTokenBytes)
    }
  })
})
