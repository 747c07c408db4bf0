/**
 * Damaged checkpoints and GGUF files: whatever is wrong is one sentence, and nothing half-made stays behind. In the soak
 * (`npm run test:soak -- src/checkpoints/fuzz.test.ts`) also: none takes more than a second of processor time,
 * all stay within 512 MB.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { useConversions } from '../../test/support/checkpoints/conversions.ts'
import {
  createRandom,
  mutateBytes,
  mutateJson,
  mutateSafetensorsHeader,
  type Random,
} from '../../test/support/checkpoints/mutations.ts'
import { readReference, type TokenizerCase } from '../../test/support/checkpoints/reference-checkpoints.ts'
import { safetensors, SHAPES, type Shapes } from '../../test/support/checkpoints/tiny-checkpoint.ts'
import { lengthOf } from '../../test/support/length-of.ts'
import { StartError } from '../core/errors.ts'
import { openGgufModel } from './gguf/gguf-file.ts'

const FILES = lengthOf({ test: 60, soak: 40_000 })
/** Of processor time, which a busy machine does not stretch. */
const MAX_CPU_MS = 1000
const MAX_MEMORY_MB = 512

const conversions = useConversions()

/** Files that are damaged in turn: what they are called, and how. */
type Target = readonly [file: string, damage: (bytes: Buffer, random: Random) => Buffer]
const asJson = (bytes: Buffer, random: Random) =>
  random() < 0.7 ? Buffer.from(mutateJson(bytes.toString('utf8'), random)) : mutateBytes(bytes, random)
const asSafetensors = (bytes: Buffer, random: Random) =>
  random() < 0.5 ? mutateSafetensorsHeader(bytes, random) : mutateBytes(bytes, random)
const TARGETS: readonly Target[] = [
  ['model.gguf', mutateBytes],
  ['model.gguf', mutateBytes],
  ['model.gguf', mutateBytes],
  ['part-0.safetensors', asSafetensors],
  ['part-1.safetensors', asSafetensors],
  ['model.safetensors.index.json', asJson],
  ['config.json', asJson],
  ['tokenizer.json', asJson],
  ['tokenizer_config.json', asJson],
  ['tokenizer.model', mutateBytes],
]

/** A sharded checkpoint with a tokenizer of the SentencePiece kind, and what it is converted to. */
async function writeSamples(): Promise<{ checkpoint: string; samples: Map<string, Buffer> }> {
  const tokenizers = await readReference<TokenizerCase>('tokenizers')
  const tokenizer = tokenizers.find(({ name }) => name === 'llama2')
  if (tokenizer === undefined) throw new Error('no tokenizer llama2')
  const vocab = Object.keys((tokenizer.json['model'] as { vocab: object }).vocab).length
  const shapes: Shapes = { ...SHAPES, 'model.embed_tokens.weight': [vocab, 8] }
  const shard = (odd: number) =>
    safetensors(Object.fromEntries(Object.entries(shapes).filter((_, at) => at % 2 === odd)), 'F16')
  const weight_map = Object.fromEntries(
    Object.keys(shapes).map((name, at) => [name, `part-${at % 2}.safetensors`]),
  )
  const checkpoint = await conversions.write({
    config: { vocab_size: vocab, bos_token_id: 1, eos_token_id: 2 },
    weights: {
      'part-0.safetensors': shard(0),
      'part-1.safetensors': shard(1),
      'model.safetensors.index.json': JSON.stringify({ metadata: { total_size: 1 }, weight_map }),
      'tokenizer.json': JSON.stringify(tokenizer.json),
      'tokenizer_config.json': JSON.stringify({ bos_token: '<s>', eos_token: '</s>', chat_template: 'x' }),
      'tokenizer.model': Buffer.from(tokenizer.model ?? '', 'base64'),
    },
  })
  const { model } = await conversions.resolve(checkpoint)
  const names = new Set(TARGETS.map(([name]) => name).filter((name) => name !== 'model.gguf'))
  const samples = new Map([['model.gguf', await readFile(model.path)]])
  for (const name of names) samples.set(name, await readFile(join(checkpoint, name)))
  return { checkpoint, samples }
}

it(`answers ${FILES} damaged files with a model or one sentence, and keeps nothing half-made`, async () => {
  const { checkpoint, samples } = await writeSamples()
  const modelsFolder = join(conversions.folder(), 'data', 'models')
  const ggufPath = join(conversions.folder(), 'damaged.gguf')
  const counts = { taken: 0, refused: 0 }
  let slowestCpuMs = 0
  for (let seed = 1; seed <= FILES; seed++) {
    const random = createRandom(seed)
    const [name, damage] = TARGETS[seed % TARGETS.length] ?? ['model.gguf', mutateBytes]
    const whole = samples.get(name) ?? Buffer.alloc(0)
    const isGguf = name === 'model.gguf'
    const path = isGguf ? ggufPath : join(checkpoint, name)
    await writeFile(path, damage(whole, random))
    const cpu = process.cpuUsage()
    try {
      await (isGguf ? openGgufModel(path) : conversions.resolve(checkpoint))
      counts.taken++
    } catch (error) {
      if (!(error instanceof StartError)) throw new Error(`seed ${seed}, ${name}`, { cause: error })
      expect(error.message).toMatch(/^[^\n]{1,2000}\.$/)
      counts.refused++
      // Another file's conversion may lie there from before; never a part of one.
      if (!isGguf)
        expect((await conversions.modelFiles()).filter((file) => file.endsWith('.tmp'))).toEqual([])
    }
    const { user, system } = process.cpuUsage(cpu)
    slowestCpuMs = Math.max(slowestCpuMs, (user + system) / 1000)
    if (!isGguf) await writeFile(path, whole)
    if (seed % 100 === 0) await rm(modelsFolder, { recursive: true, force: true })
    await mkdir(modelsFolder, { recursive: true })
  }
  // The test would prove nothing if damage were rare, or if all of it were obvious.
  expect(counts.refused).toBeGreaterThan(FILES / 4)
  expect(counts.taken).toBeGreaterThan(FILES / 50)
  if (!inject('isSoak')) return
  const memoryMb = Math.round(process.resourceUsage().maxRSS / 1024)
  const figures = { files: FILES, ...counts, slowestCpuMs: Math.round(slowestCpuMs), memoryMb }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
  expect(slowestCpuMs).toBeLessThan(MAX_CPU_MS)
  expect(memoryMb).toBeLessThan(MAX_MEMORY_MB)
})
