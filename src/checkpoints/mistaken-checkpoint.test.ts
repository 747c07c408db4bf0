import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { SMALL_LLAMA, temporaryFolder } from '../../test/support/servers/server-process.ts'
import { findCheckpointFiles } from './checkpoint-files.ts'

const POINTER = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 12345678\n'
const IS_POINTER =
  'is a Git-LFS pointer that stands for a file of 12345678 bytes: run "git lfs pull" in its folder, or download the file itself.'
const IS_ADAPTER =
  'is a LoRA adapter of "acme/base", not a model: register it beside its base model, with "base" and "adapter" in the place of "checkpoint".'

const find = (checkpoint: string) => findCheckpointFiles({ checkpoint, modelConfig: null, tokenizer: null })

describe('a checkpoint that is the name of something else', () => {
  it.each([
    [
      'acme/tiny',
      'Cannot open the checkpoint acme/tiny: it does not exist; for the model of this name on the Hugging Face Hub write hf:acme/tiny.',
    ],
    [
      'acme/tiny:tiny-Q4.gguf',
      'Cannot open the checkpoint acme/tiny:tiny-Q4.gguf: it does not exist; for the model of this name on the Hugging Face Hub write hf:acme/tiny:tiny-Q4.gguf.',
    ],
    [
      'https://huggingface.co/acme/tiny',
      'is a model of the Hugging Face Hub, not a path: write hf:acme/tiny.',
    ],
    ['hf.co/acme/tiny:Q4_K_M', 'is a model of the Hugging Face Hub, not a path: write hf:acme/tiny.'],
    [
      'https://huggingface.co/acme/tiny/tree/v2',
      'is a model of the Hugging Face Hub, not a path: write hf:acme/tiny@v2.',
    ],
    ['https://huggingface.co/acme/tiny/blob/main/model.safetensors', 'not a path: write hf:acme/tiny.'],
    [
      'https://huggingface.co/acme/tiny/resolve/main/q/tiny.gguf?download=true',
      'not a path: write hf:acme/tiny:q/tiny.gguf.',
    ],
    [
      'https://example.org/tiny.gguf',
      'is a URL, not a path: download it and give its path, or write hf:org/repo for a model of the Hugging Face Hub.',
    ],
    ['HF:acme/tiny', 'is a model of the Hugging Face Hub, not a path: write hf:acme/tiny.'],
    ['huggingface:acme/tiny@v2:q/tiny.gguf', 'not a path: write hf:acme/tiny@v2:q/tiny.gguf.'],
    ['https://huggingface.co/datasets/acme/texts', 'is a URL, not a path: download it'],
    ['file:///models/tiny.gguf', 'is a URL, not a path: write /models/tiny.gguf.'],
    [
      'llama3.2:1b',
      'does not exist, and models of Ollama are not read by their names: write the path of a GGUF file, or hf:org/repo:file.gguf for one of the Hugging Face Hub.',
    ],
    ...['llama3.2', 'mistral'].map((name): [string, string] => [
      name,
      `Cannot open the checkpoint ${name}: it does not exist; names of models, such as those of Ollama, are not looked up: write the path of a GGUF file, or hf:org/repo for a model of the Hugging Face Hub.`,
    ]),
    ['tiny.gguf', 'Cannot open the checkpoint tiny.gguf: it does not exist.'],
    ...[
      'ollama://llama3.2',
      'ollama/llama3.2',
      'library/llama3.2',
      'ollama run llama3.2',
      'https://ollama.com/library/llama3.2',
      'registry.ollama.ai/library/llama3.2:1b',
    ].map((name): [string, string] => [name, 'models of Ollama are not read by their names']),
    ['library/tiny.gguf', 'Cannot open the checkpoint library/tiny.gguf: it does not exist.'],
    ['Demo', 'Cannot open the checkpoint Demo: it does not exist; for the bundled model write demo.'],
    ['./models/Demo/', 'it does not exist; for the bundled model write demo.'],
    [
      '~/tiny.gguf',
      `it does not exist; only a shell puts the home folder in place of ~: write ${path.join(homedir(), 'tiny.gguf')}.`,
    ],
    ['$HOME/tiny.gguf', `home folder in place of $HOME: write ${path.join(homedir(), 'tiny.gguf')}.`],
    ['models/tiny.gguf', 'Cannot open the checkpoint models/tiny.gguf: it does not exist.'],
    ['/no/such/folder', 'Cannot open the checkpoint /no/such/folder: it does not exist.'],
  ])('%s', async (checkpoint, sentence) => {
    const refused = find(checkpoint)
    await expect(refused).rejects.toThrow(sentence)
    await expect(refused).rejects.toMatchObject({ message: expect.stringMatching(/\.$/), exitCode: 1 })
  })
})

describe('a checkpoint that is not read', () => {
  let folder = ''
  const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text)
  beforeEach(() => {
    folder = path.join(temporaryFolder(), 'given')
    mkdirSync(folder)
  })

  it.each(['model.gguf', 'model.safetensors', 'model.bin'])('%s, a Git-LFS pointer', async (name) => {
    write(name, POINTER)
    const file = path.join(folder, name)
    await expect(find(file)).rejects.toThrow(`${file} ${IS_POINTER}`)
  })

  it.each(['model.safetensors', 'tokenizer.json', 'config.json'])(
    'a folder whose %s is a pointer',
    async (name) => {
      cpSync(SMALL_LLAMA, folder, { recursive: true })
      write(name, POINTER)
      await expect(find(folder)).rejects.toThrow(`${path.join(folder, name)} ${IS_POINTER}`)
    },
  )

  it('a sharded checkpoint whose shards are pointers', async () => {
    cpSync(SMALL_LLAMA, folder, { recursive: true })
    write('model-00001-of-00001.safetensors', POINTER)
    write('model.safetensors.index.json', '{"weight_map":{"a":"model-00001-of-00001.safetensors"}}')
    await expect(find(folder)).rejects.toThrow(`model-00001-of-00001.safetensors ${IS_POINTER}`)
  })

  it.each(['adapter_model.safetensors', 'adapter_model.bin'])('a LoRA adapter in %s', async (name) => {
    write('adapter_config.json', '{"peft_type":"LORA","base_model_name_or_path":"acme/base"}')
    write(name, 'x')
    for (const given of ['', name, 'adapter_config.json'])
      await expect(find(path.join(folder, given))).rejects.toThrow(IS_ADAPTER)
  })

  it('a LoRA adapter whose configuration is damaged, or that has lost its weights', async () => {
    write('adapter_config.json', '{')
    await expect(find(folder)).rejects.toThrow(`${folder} is a LoRA adapter, not a model: register`)
  })

  it.each(['pytorch_model.bin', 'consolidated.00.pth'])('PyTorch weights in %s', async (name) => {
    write('config.json', '{}')
    write(name, 'x')
    for (const given of [folder, path.join(folder, name)]) {
      await expect(find(given)).rejects.toThrow(
        `${given} holds PyTorch weights ("${name}"), which are not read: save them as safetensors, in Python with AutoModelForCausalLM.from_pretrained(OLD).save_pretrained(NEW), put the tokenizer's files beside, and give the new folder.`,
      )
    }
  })

  it('a folder and a file of anything else', async () => {
    await expect(find(folder)).rejects.toThrow('is a folder without a .safetensors or .gguf file.')
    write('notes.txt', 'x')
    await expect(find(path.join(folder, 'notes.txt'))).rejects.toThrow(
      'is no model: a checkpoint is a GGUF file',
    )
  })
})

it('a folder with many models names the first of them, on one line', async () => {
  const folder = temporaryFolder()
  for (let number = 0; number < 40; number++)
    writeFileSync(path.join(folder, `m\n${number + 10}.gguf`), 'GGUF')
  const names = Array.from({ length: 30 }, (_, number) => `m?${number + 10}.gguf`)
  const sentenceEnd = `is a folder with several models; give one of them: ${names.join(', ')} and 10 more.`
  await expect(find(folder)).rejects.toThrow(`${folder} ${sentenceEnd}`)
})
