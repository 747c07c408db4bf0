/**
 * A checkpoint whose only tokenizer is a tekken.json makes the tokens that mistral_common makes of texts and of chats, in each version of
 * the format (`tools/checkpoints/tekken.py`).
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { convertCheckpoint } from '../../src/checkpoints/conversion/convert.ts'
import { findCheckpointFiles } from '../../src/checkpoints/checkpoint-files.ts'
import { loadLlama } from '../../src/engines/llamacpp/ffi/bindings.ts'
import { checkGguf } from '../../src/engines/llamacpp/gguf-check.ts'
import { openModel } from '../../src/engines/llamacpp/model.ts'
import { Vocabulary } from '../../src/engines/llamacpp/tokenizing/vocabulary.ts'
import { ChatTemplate } from '../../src/models/chat/chat-template.ts'
import type { Chat } from '../../src/protocol/chat.ts'
import { safetensors, SHAPES, writeCheckpoint } from '../support/checkpoints/tiny-checkpoint.ts'

interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string
  readonly reasoning?: string
  readonly tool_calls?: readonly {
    readonly id: string
    readonly function: { name: string; arguments: string }
  }[]
  readonly tool_call_id?: string
}

interface ReferenceChat {
  readonly messages: readonly Message[]
  readonly tools?: readonly {
    readonly function: { name: string; description: string; parameters: Readonly<Record<string, unknown>> }
  }[]
  readonly ids: readonly number[]
}

interface Reference {
  readonly file: { readonly config: Readonly<Record<string, unknown>>; readonly vocab: readonly object[] }
  readonly texts: readonly (readonly [text: string, ids: readonly number[]])[]
  readonly versions: readonly {
    readonly version: string
    readonly special_tokens: readonly object[] | null
    readonly chats: readonly ReferenceChat[]
  }[]
}

const REFERENCE = join(import.meta.dirname, 'reference/checkpoints/tekken.json')
const reference: Reference = JSON.parse(await readFile(REFERENCE, 'utf8'))

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-tekken-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe.each(reference.versions)('a tekken.json of $version', ({ version, special_tokens, chats }) => {
  it('makes the tokens of mistral_common', async () => {
    const { chatTemplate, vocabulary, close } = await open(version, special_tokens)

    const made = reference.texts.map(([text]) => [
      ...vocabulary.tokenize({ pieces: [text], addSpecial: false }),
    ])
    expect(made).toEqual(reference.texts.map(([, ids]) => ids))

    const template = new ChatTemplate({
      modelId: 'm',
      toolFormat: 'auto',
      maxSeqLen: null,
      chatTemplate,
      bosText: vocabulary.bosText,
      eosText: vocabulary.eosText,
      specialTexts: vocabulary.specialTexts,
    })
    const rendered = chats.map((chat) => [...vocabulary.tokenize(template.render(toChat(chat)))])
    expect(rendered).toEqual(chats.map(({ ids }) => ids))
    close()
  })
})

async function open(version: string, special_tokens: readonly object[] | null) {
  const vocabSize = Number(reference.file.config['default_vocab_size'])
  const shapes = { ...SHAPES, 'model.embed_tokens.weight': [vocabSize, 8] }
  const checkpoint = await writeCheckpoint(folder, {
    name: version,
    config: { vocab_size: vocabSize, bos_token_id: undefined, eos_token_id: undefined },
    weights: {
      'model.safetensors': safetensors(shapes, 'F16'),
      'tekken.json': JSON.stringify({
        ...reference.file,
        config: { ...reference.file.config, version },
        ...(special_tokens !== null && { special_tokens }),
      }),
    },
  })
  await rm(join(checkpoint, 'tokenizer.json'))
  const source = await findCheckpointFiles({ checkpoint, modelConfig: null, tokenizer: null })
  if (source.kind !== 'hugging-face') throw new Error('not a checkpoint')
  const modelPath = join(checkpoint, 'model.gguf')
  await convertCheckpoint({ source, tensorType: 'f16', outputPath: modelPath })
  const api = loadLlama('off')
  const model = openModel(api, { modelPath, ...checkGguf(api, modelPath) }, () => {})
  return {
    chatTemplate: model.chatTemplate,
    vocabulary: Vocabulary.read(api, { ...model, modelId: 'test' }),
    close: () => model.close(),
  }
}

function toChat({ messages, tools = [] }: ReferenceChat): Chat {
  return {
    messages: messages.map(({ role, content, reasoning, tool_calls = [], tool_call_id }) => ({
      role,
      content,
      ...(reasoning !== undefined && { reasoning }),
      toolCalls: tool_calls.map(({ id, function: { name, arguments: given } }) => ({
        id,
        name,
        arguments: given,
      })),
      ...(tool_call_id !== undefined && { toolCallId: tool_call_id, name: 'get_weather' }),
    })),
    tools: tools.map(({ function: { name, description, parameters } }) => ({
      name,
      description,
      parameters,
      strict: false,
    })),
  }
}
