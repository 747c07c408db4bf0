/** Adapters in GGUF at which an engine would end, and with it all that runs on the base model. */
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type GgmlType, gguf, type GgufMetadata, type GgufValue } from '../gguf/gguf-format.ts'
import { layoutGguf, writeGguf } from '../gguf/gguf-writer.ts'
import { openAdapterModel } from './adapter-model.ts'
import { convertAdapter } from './convert-adapter.ts'
import { prepareAdapter } from './prepare-adapter.ts'

const WEIGHT = 'blk.0.attn_q.weight'
const SIZE = 256
const BASE = {
  ...{ modelId: 'base', architecture: 'llama', metadata: new Map() },
  tensors: [
    { name: WEIGHT, shape: [SIZE, SIZE], type: 'F32', offsetBytes: 0, sizeBytes: 4 * SIZE ** 2 },
  ] as const,
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-adapter-'))
})
afterEach(() => rm(folder, { recursive: true }))

interface Adapter {
  readonly type?: GgmlType
  readonly alpha?: GgufValue
  /** Of all bytes of the second half. */
  readonly fill?: number
}

async function write({ type = 'F32', alpha = gguf.float32(8), fill = 0 }: Adapter): Promise<string> {
  const metadata: GgufMetadata = new Map([
    ['general.architecture', gguf.string('llama')],
    ['general.type', gguf.string('adapter')],
    ['adapter.type', gguf.string('lora')],
    ['adapter.lora.alpha', alpha],
  ])
  const tensors = ['lora_a', 'lora_b'].map((half) => ({
    ...{ name: `${WEIGHT}.${half}`, shape: [SIZE, SIZE], type },
  }))
  const path = join(folder, 'adapter.gguf')
  await writeGguf(path, layoutGguf(metadata, tensors), async function* ({ name, sizeBytes }) {
    yield new Uint8Array(sizeBytes).fill(name.endsWith('lora_b') ? fill : 0)
  })
  return path
}

const open = async (adapter: Adapter) => await openAdapterModel(await write(adapter), BASE)

it.each(['F32', 'F16', 'BF16', 'Q8_0', 'Q4_K'] as const)('halves of the type %s are taken', async (type) => {
  await expect(open({ type })).resolves.toMatchObject({ parameters: 2 * SIZE ** 2 })
})

it.each(['F64', 'I8', 'I32', 'Q8_1', 'Q8_K'] as const)('halves of the type %s are refused', async (type) => {
  await expect(open({ type })).rejects.toThrow(
    `has tensor "${WEIGHT}.lora_a" of the type ${type}, which llama.cpp does not multiply.`,
  )
})

it.each([gguf.uint32(8), gguf.float32(Number.NaN), { type: 'float64', value: 8 } as const])(
  'an alpha like %j is refused',
  async (alpha) => {
    await expect(open({ alpha })).rejects.toThrow(
      'is damaged: its "adapter.lora.alpha" is no number of the type float32.',
    )
  },
)

const silent = () => {}
const prepare = async (adapter: string) =>
  await prepareAdapter({
    ...{ modelId: 'adapted', adapter, base: BASE, dataDir: folder, onProgress: () => {} },
    convert: convertAdapter,
    log: { debug: silent, info: silent, warn: silent, error: silent },
    signal: new AbortController().signal,
  })

it.each(['F32', 'F16', 'BF16'] as const)('a NaN in halves of the type %s is refused', async (type) => {
  await expect(prepare(await write({ type, fill: 0xff }))).rejects.toThrow(
    `adapter.gguf holds a NaN or an Infinity in tensor "${WEIGHT}.lora_b".`,
  )
})

it('one of PEFT with a header that none has is refused before it is read', async () => {
  const weights = Buffer.alloc(8)
  weights.writeBigUInt64LE(90_000_000n)
  const path = join(folder, 'adapter_model.safetensors')
  await writeFile(path, weights)
  await truncate(path, 90_000_008)
  await writeFile(join(folder, 'adapter_config.json'), '{"peft_type": "LORA", "lora_alpha": 8}')
  await expect(prepare(folder)).rejects.toThrow(
    `${path} has a header of 90000000 bytes, but one of its kind has at most 16777216.`,
  )
})
