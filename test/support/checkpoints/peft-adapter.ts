/**
 * LoRA adapters of random numbers as PEFT saves them, over all linear layers of a checkpoint, and the checkpoint that each is
 * merged into: plain sums over the rows that Hugging Face stores, in 64-bit floats.
 */
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { convertFloats, isFloatType } from '../../../src/checkpoints/gguf/float-conversion.ts'
import { readFileChunks } from '../../../src/checkpoints/files/open-file.ts'
import {
  openCheckpoint,
  type SafetensorsTensor,
} from '../../../src/checkpoints/safetensors/safetensors-file.ts'
import { safetensors, type Shapes } from './tiny-checkpoint.ts'

const LINEAR =
  /^model\.(?:language_model\.)?layers\.\d+\.(?:self_attn\.[qkvo]_proj|mlp\.(?:(?:experts\.\d+\.)?(?:gate|up|down)_proj|gate|router))\.weight$/

export interface PeftAdapter {
  /** The checkpoint's folder. */
  readonly base: string
  readonly seed: number
  /** How far it moves the weights. @default 0.15 */
  readonly size?: number
  /** @default 4 */
  readonly rank?: number
  /** @default 8 */
  readonly alpha?: number
  /** Fields of its config beside those. */
  readonly config?: Readonly<Record<string, unknown>>
  /** What each module's B * A is multiplied by. @default alpha / rank */
  readonly factorOf?: (module: string) => number
  /** Which modules it has parts for. @default all linear layers */
  readonly isTouched?: (module: string) => boolean
}

type Values = ReadonlyMap<string, Float32Array>

/** Writes the adapter into a folder. */
export async function writePeftAdapter(folder: string, adapter: PeftAdapter): Promise<void> {
  const { rank = 4, alpha = 8, config = {} } = adapter
  const { shapes, values } = await randomParts(adapter)
  await mkdir(folder, { recursive: true })
  const fields = {
    ...{ peft_type: 'LORA', r: rank, lora_alpha: alpha, bias: 'none', base_model_name_or_path: 'a/base' },
    ...config,
  }
  await writeFile(join(folder, 'adapter_config.json'), JSON.stringify(fields))
  const data = safetensors(shapes, 'F32', (name) => valueOf(values, name))
  await writeFile(join(folder, 'adapter_model.safetensors'), data)
}

/** Writes the checkpoint, in F32, with the adapter merged into it. Without one, the checkpoint as it is in F32. */
export async function writeMergedCheckpoint(
  folder: string,
  { base, adapter = null, scale = 1 }: { base: string; adapter?: PeftAdapter | null; scale?: number },
): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const name of ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json'])
    await copyFile(join(base, name), join(folder, name))
  const tensors = [...(await openCheckpoint(join(base, 'model.safetensors'))).tensors.values()]
  const values = new Map<string, Float32Array>()
  for (const tensor of tensors) values.set(tensor.name, await floatsOf(tensor))
  if (adapter !== null) await merge(values, adapter, scale)
  const shapes = Object.fromEntries(tensors.map(({ name, shape }) => [name, [...shape]]))
  await writeFile(
    join(folder, 'model.safetensors'),
    safetensors(shapes, 'F32', (name) => valueOf(values, name)),
  )
}

async function merge(weights: Values, adapter: PeftAdapter, scale: number): Promise<void> {
  const { rank = 4, alpha = 8, factorOf = () => alpha / rank } = adapter
  const { values, modules } = await randomParts(adapter)
  for (const { module, rows, columns } of modules) {
    const weight = valueOf(weights, `${module}.weight`)
    const a = valueOf(values, `base_model.model.${module}.lora_A.weight`)
    const b = valueOf(values, `base_model.model.${module}.lora_B.weight`)
    const factor = scale * factorOf(module)
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        let sum = 0
        for (let k = 0; k < rank; k++) sum += (b[row * rank + k] ?? 0) * (a[k * columns + column] ?? 0)
        weight[row * columns + column] = (weight[row * columns + column] ?? 0) + factor * sum
      }
    }
  }
}

/** The same for the same seed. */
async function randomParts({ base, seed, size = 0.15, rank = 4, isTouched = () => true }: PeftAdapter) {
  const random = randomNumbers(seed)
  const { tensors } = await openCheckpoint(join(base, 'model.safetensors'))
  const linear = [...tensors.values()].filter(({ name }) => LINEAR.test(name) && isTouched(name))
  const modules = linear.map(({ name, shape: [rows = 0, columns = 0] }) => {
    return { module: name.replace(/\.weight$/, ''), rows, columns }
  })
  const shapes: Shapes = {}
  const values = new Map<string, Float32Array>()
  for (const { module, rows, columns } of modules) {
    for (const [part, shape] of [
      ['A', [rank, columns]],
      ['B', [rows, rank]],
    ] as const) {
      const name = `base_model.model.${module}.lora_${part}.weight`
      shapes[name] = [...shape]
      values.set(
        name,
        Float32Array.from({ length: shape[0] * shape[1] }, () => random() * size),
      )
    }
  }
  return { modules, shapes, values }
}

async function floatsOf(tensor: SafetensorsTensor): Promise<Float32Array> {
  const { dtype, sizeBytes } = tensor
  if (!isFloatType(dtype)) throw new Error(`${tensor.name} is of type ${dtype}`)
  for await (const chunk of readFileChunks(tensor, sizeBytes)) {
    const { buffer, byteOffset, byteLength } = convertFloats(chunk, dtype, 'F32')
    return new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength))
  }
  return new Float32Array()
}

function valueOf(values: Values, name: string): Float32Array {
  const found = values.get(name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

/** Between -1 and 1. */
function randomNumbers(seed: number): () => number {
  let state = (seed * 2_654_435_761 + 1) >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 31 - 1
  }
}
