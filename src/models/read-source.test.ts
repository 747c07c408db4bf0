import { describe, expect, it } from 'vitest'
import { SecretText } from '../core/text/secret-text.ts'
import type { RegisteredSource } from '../protocol/model-source.ts'
import { readRegisteredSource, refuseId } from './read-source.ts'

const read = (given: unknown) => readRegisteredSource('m', given as RegisteredSource)

describe('readRegisteredSource', () => {
  it.each([
    ['null', null, "The source of 'm' must be an object with a checkpoint, but was null."],
    ['text', 'm.gguf', "The source of 'm' must be an object with a checkpoint, but was 'm.gguf'."],
    [
      'an unknown kind',
      { kind: 'vllm', endpoints: [] },
      "The kind of the source of 'm' must be one of local, openai, adapter, but was 'vllm'.",
    ],
    ['nothing', {}, "registry.register must have 'checkpoint' in the source of 'm'."],
    [
      'a mistyped field',
      { checkpoint: 'm.gguf', toolformat: 'hermes' },
      "registry.register must not have 'toolformat' in the source of 'm'; its fields are " +
        'checkpoint, modelConfig, tokenizer, quantization, draftCheckpoint, toolFormat.',
    ],
    [
      'a field of the list that is none of a source',
      { checkpoint: 'm.gguf', pinned: true },
      "registry.register must not have 'pinned' in the source of 'm'; its fields are " +
        'checkpoint, modelConfig, tokenizer, quantization, draftCheckpoint, toolFormat.',
    ],
    [
      'a number',
      { checkpoint: 7 },
      "registry.register is wrong in the source of 'm': its checkpoint must be a path, but was 7.",
    ],
    [
      'a scale that is no number',
      { kind: 'adapter', base: 'm', adapter: 'a.gguf', scale: Number.NaN },
      "registry.register is wrong in the source of 'm': its scale must be a number from -100 to 100, but was NaN.",
    ],
    [
      'no endpoint',
      { kind: 'openai', endpoints: [], apiKey: null, model: null },
      "registry.register is wrong in the source of 'm': its endpoints must hold at least one URL.",
    ],
  ])('refuses %s in one sentence', (_, given, sentence) => {
    expect(() => read(given)).toThrow(sentence)
  })

  it('takes a field that is undefined as one that is not given', () => {
    const complete = {
      kind: 'local',
      checkpoint: 'm.gguf',
      modelConfig: null,
      tokenizer: null,
      quantization: 'none',
      draftCheckpoint: null,
      toolFormat: 'auto',
    }
    expect(read({ checkpoint: 'm.gguf', quantization: undefined, tokenizer: undefined })).toEqual(complete)
    expect(read(complete)).toEqual(complete)
    const adapter = { kind: 'adapter', base: 'b', adapter: 'a.gguf' }
    expect(read({ ...adapter, scale: undefined })).toEqual({ ...adapter, scale: 1 })
  })

  it('keeps a secret that was read before, and reads one that is text', () => {
    const remote = { kind: 'openai', endpoints: ['http://127.0.0.1:1/v1'], model: null }
    const secret = new SecretText('env:NOT_READ_AGAIN')
    expect(read({ ...remote, apiKey: secret })).toEqual({ ...remote, apiKey: secret })
    const source = read({ ...remote, apiKey: 'text-of-a-key' })
    expect(source.kind === 'openai' && source.apiKey?.reveal()).toBe('text-of-a-key')
  })
})

describe('refuseId', () => {
  it.each([
    ['', "''"],
    ['a/../b', "'a/../b'"],
    ['a\nb', "'a\\nb'"],
    [7, '7'],
    [null, 'null'],
  ])('refuses %j', (id, shown) => {
    expect(() => refuseId(id as string)).toThrow(
      `The id of a model must be 1 to 255 characters, none of its segments '.' or '..', but was ${shown}.`,
    )
  })

  it('takes the name of a file with a space', () => {
    expect(() => refuseId('my model')).not.toThrow()
  })
})
