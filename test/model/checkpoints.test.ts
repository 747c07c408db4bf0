/**
 * The proof that checkpoints of every architecture are converted to the same model: tiny ones with random weights,
 * against forward passes and tokenizers written independently (`tools/checkpoints/`).
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { convertCheckpoint } from '../../src/checkpoints/conversion/convert.ts'
import { loadLlama } from '../../src/engines/llamacpp/ffi/bindings.ts'
import { openModel } from '../../src/engines/llamacpp/model.ts'
import { CasedWords } from '../../src/engines/llamacpp/tokenizing/cased-words.ts'
import { NO_SLICES } from '../../src/engines/llamacpp/tokenizing/text-slices.ts'
import { Vocabulary } from '../../src/engines/llamacpp/tokenizing/vocabulary.ts'
import { findCheckpointFiles } from '../../src/checkpoints/checkpoint-files.ts'
import { openForLogits } from '../support/engines/model-logits.ts'
import {
  type LogitsCase,
  readReference,
  type TokenizerCase,
  writeReference,
} from '../support/checkpoints/reference-checkpoints.ts'

const references = await readReference<LogitsCase>('logits')
const tokenizers = await readReference<TokenizerCase>('tokenizers')

/** Of a logit of up to 77. */
const TOLERANCE = 1e-4
/**
 * llama.cpp looks GELU up in a table of half precision. Against a reference that does too, what is left are numbers
 * that fall on the other side of a border of the table, in each layer anew.
 */
const GELU_TOLERANCE = 2e-2
const TABLE_TOLERANCE_PER_LAYER = 2e-4
/** llama.cpp multiplies MXFP4 by numbers of 8 bits: the same, and less so where the reference rounds to them too. */
const MXFP4_TOLERANCE = 0.1
const EIGHT_BIT_TOLERANCE = 1e-2

/** Tokenizers whose words our engine cuts. */
const OWN_WORDS = ['o200k', 'tekken']

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-checkpoints-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** By name and tokenizer: several tests read the same. */
const converted = new Map<string, Promise<string>>()

/** Resolves with the path of the converted file. */
function convert(reference: LogitsCase, { hasPieceModel = false } = {}): Promise<string> {
  const key = JSON.stringify([reference.name, hasPieceModel])
  const modelPath = converted.get(key) ?? convertNew(reference, hasPieceModel)
  converted.set(key, modelPath)
  return modelPath
}

async function convertNew(reference: LogitsCase, hasPieceModel: boolean): Promise<string> {
  const tokenizer = tokenizers.find(({ name }) => name === reference.tokenizer)
  if (tokenizer === undefined) throw new Error(`no tokenizer ${reference.tokenizer}`)
  const checkpoint = await mkdtemp(join(folder, 'checkpoint-'))
  await writeReference(checkpoint, { reference, tokenizer, hasPieceModel })
  const source = await findCheckpointFiles({ checkpoint, modelConfig: null, tokenizer: null })
  if (source.kind !== 'hugging-face') throw new Error('not a checkpoint')
  const modelPath = join(checkpoint, 'model.gguf')
  await convertCheckpoint({ source, tensorType: 'f32', outputPath: modelPath })
  return modelPath
}

async function open(reference: LogitsCase, options: { readonly hasPieceModel?: boolean } = {}) {
  return openForLogits({ modelPath: await convert(reference, options), maxSeqLen: reference.context })
}

/** From what is exact, and from what is rounded as llama.cpp rounds. */
function tolerancesOf(config: LogitsCase['config']): readonly [exact: number, rounded: number] {
  if (config['quantization_config'] !== undefined) return [MXFP4_TOLERANCE, EIGHT_BIT_TOLERANCE]
  if (config['hidden_act'] === 'silu') return [TOLERANCE, TOLERANCE]
  return [GELU_TOLERANCE, TABLE_TOLERANCE_PER_LAYER * Number(config['num_hidden_layers'])]
}

function largestDifference(made: Float32Array, expected: readonly number[]): number {
  expect(made).toHaveLength(expected.length)
  return expected.reduce((most, value, id) => Math.max(most, Math.abs(value - (made[id] ?? 0))), 0)
}

describe('logits after conversion, weights and KV cache in F32', () => {
  it.each(references)('$name', async (reference) => {
    const model = await open(reference)
    const { text_config: text } = reference.config
    const config = (text ?? reference.config) as LogitsCase['config']
    const [tolerance, roundedTolerance] = tolerancesOf(config)
    let done = 0
    const largest = { exact: 0, rounded: 0 }
    let last: Float32Array = new Float32Array()
    for (const { position, values, rounded_as_llama: rounded = values } of reference.logits) {
      last = model.logitsAfter(done, reference.prompt.slice(done, position + 1))
      done = position + 1
      largest.exact = Math.max(largest.exact, largestDifference(last, values))
      largest.rounded = Math.max(largest.rounded, largestDifference(last, rounded))
    }
    if (process.env['SHOW_DIFFERENCES'] !== undefined) console.log(reference.name, largest)
    expect(largest.exact).toBeLessThan(tolerance)
    expect(largest.rounded).toBeLessThan(roundedTolerance)
    for (const [step, tokenId] of reference.greedy.entries()) {
      const made = last.indexOf(Math.max(...last))
      // A closer race may end either way.
      if ((reference.gaps[step] ?? 0) > 2 * tolerance) expect(made).toBe(tokenId)
      last = model.logitsAfter(done++, [tokenId])
    }
    model.close()
  })
})

describe('token ids after conversion', () => {
  const kinds = tokenizers.flatMap((tokenizer) =>
    (tokenizer.model === undefined ? [false] : [false, true]).map((hasPieceModel) => ({
      tokenizer,
      hasPieceModel,
      title: `${tokenizer.name}${hasPieceModel ? ' with its tokenizer.model' : ''}`,
    })),
  )
  it.each(kinds)('$title', async ({ tokenizer, hasPieceModel }) => {
    const reference = references.find(({ tokenizer: name }) => name === tokenizer.name)
    if (reference === undefined) throw new Error(`no model has the tokenizer ${tokenizer.name}`)
    const model = await open(reference, { hasPieceModel })
    expect(tokenizer.cases.length).toBeGreaterThanOrEqual(200)
    const made = tokenizer.cases.map(([text]) => [
      text,
      ...model.vocabulary.tokenize({ pieces: [text], addSpecial: false }),
    ])
    expect(made).toEqual(tokenizer.cases.map(([text, ids]) => [text, ...ids]))
    model.close()
  })

  it.each(kinds.filter(({ tokenizer }) => !OWN_WORDS.includes(tokenizer.name)))(
    '$title, in slices',
    async ({ tokenizer, hasPieceModel }) => {
      const reference = references.find(({ tokenizer: name }) => name === tokenizer.name)
      if (reference === undefined) throw new Error(`no model has the tokenizer ${tokenizer.name}`)
      const model = await open(reference, { hasPieceModel })
      const { vocabulary } = model
      const { data } = vocabulary
      const table = { ...data.table, sliceRules: NO_SLICES }
      const whole = new Vocabulary(loadLlama('off'), { ...data, table })
      const cases = tokenizer.cases.map(([text]) => text)
      const specials = [...vocabulary.specialTexts].slice(0, 4)
      const joined = [' ', '', '\n', ...specials, ` ${specials[0] ?? ''} `].map((mark) => cases.join(mark))
      const texts = [
        ...joined,
        'Once upon a time there was '.repeat(2000),
        ...specials.map((mark) => mark.repeat(250)),
      ]
      for (const text of texts) {
        const prompt = { pieces: [text, text.slice(3)], addSpecial: true }
        // As texts: of arrays with thousands of numbers each is compared as an object may be.
        expect(vocabulary.tokenize(prompt).join(' ')).toBe(whole.tokenize(prompt).join(' '))
        const slices = [...vocabulary.tokenizeSlices(prompt)].length
        expect(slices).toBeGreaterThan([...whole.tokenizeSlices(prompt)].length)
      }
      model.close()
    },
  )

  it.each(OWN_WORDS)('%s, in slices of our own tokenizer', async (name) => {
    const { model } = await openWith(name)
    const { data } = model.vocabulary
    if (data.tokenizer.kind !== 'cased-words') throw new Error('llama.cpp would tokenize')
    const whole = new CasedWords(loadLlama('off'), data.vocab, data.tokenizer)
    const cases = tokenizers.find((tokenizer) => tokenizer.name === name)?.cases ?? []
    const specials = [...model.vocabulary.specialTexts]
    for (const mark of [' ', '\n', specials[0] ?? '']) {
      const text = cases.map(([one]) => one).join(mark)
      const long = `${text}${mark}${text}${mark}${text}`
      const made = model.vocabulary.tokenize({ pieces: [long], addSpecial: false })
      expect(made.join(' ')).toBe(whole.tokenize(long).join(' '))
      const slices = [...model.vocabulary.tokenizeSlices({ pieces: [long], addSpecial: false })].length
      expect(slices).toBeGreaterThan(1)
    }
    model.close()
  })

  const openWith = async (tokenizer: string) => {
    const reference = references.find((candidate) => candidate.tokenizer === tokenizer)
    if (reference === undefined) throw new Error(`no model has the tokenizer ${tokenizer}`)
    const model = await open(reference)
    const tokenize = (pieces: string[], addSpecial = false) =>
      Array.from(model.vocabulary.tokenize({ pieces, addSpecial }))
    return { model, tokenize }
  }

  it('have a space at the start of a text only, where the tokenizer says so', async () => {
    const { model, tokenize } = await openWith('mistral')
    expect(tokenize(['the'])).toEqual(tokenize([' the']))
    expect(tokenize(['<s>', 'the'])).toEqual(tokenize(['<s>the']))
    expect(tokenize(['<s>the'])).not.toEqual(tokenize(['<s> the']))
    expect(tokenize(['the'], true)).toEqual([1, ...tokenize([' the'])])
    model.close()
  })

  it('are those of other programs of llama.cpp too, where a text begins with no space and has no special tokens', async () => {
    const tokenizer = tokenizers.find(({ name }) => name === 'mistral')
    const reference = references.find((candidate) => candidate.tokenizer === 'mistral')
    if (tokenizer === undefined || reference === undefined)
      throw new Error('no model has the tokenizer mistral')
    const api = loadLlama('off')
    const modelPath = await convert(reference)
    const model = openModel(api, { modelPath, architecture: 'llama', kvElementsPerToken: 0 }, () => {})
    const vocabulary = Vocabulary.read(api, { ...model, modelId: 'other', putsSpaceAtStart: false })
    const addedTexts = (tokenizer.json['added_tokens'] as { content: string }[]).map(({ content }) => content)
    const plain = tokenizer.cases.filter(
      ([text]) => /^[^ ▁]/u.test(text) && !addedTexts.some((added) => text.includes(added)),
    )
    expect(plain.length).toBeGreaterThan(100)
    const made = plain.map(([text]) => [text, ...vocabulary.tokenize({ pieces: [text], addSpecial: false })])
    expect(made).toEqual(plain.map(([text, ids]) => [text, ...ids]))
    model.close()
  })

  it("are control tokens for gpt-oss's markers, of which llama.cpp makes text", async () => {
    const { model, tokenize } = await openWith('o200k')
    const { vocabulary } = model
    for (const marker of [
      '<|start|>',
      '<|channel|>',
      '<|message|>',
      '<|end|>',
      '<|constrain|>',
      '<|call|>',
    ]) {
      expect(vocabulary.specialTexts).toContain(marker)
      const [id = -1, ...others] = tokenize([marker])
      expect(others).toEqual([])
      expect(vocabulary.tokenBytes(id)).toHaveLength(0)
      expect(vocabulary.isEndOfGeneration(id)).toBe(marker === '<|call|>')
    }
    model.close()
  })

  it('are those of text in NFC, whose bytes may be three times as many', async () => {
    const { model, tokenize } = await openWith('qwen2')
    expect(tokenize(['cafe\u0301'])).toEqual(tokenize(['café']))
    expect(model.vocabulary.maxTokenBytes).toBe(3 * '<|endoftext|>'.length)
    model.close()
  })
})
