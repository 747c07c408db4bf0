/**
 * The parts of a LoRA adapter for the experts of a layer, whose matrices are one tensor in GGUF, and so are their halves of pairs:
 * those of experts each by itself, and those of all experts in one parameter, as PEFT's `ParamWrapper` saves them.
 */
import { InvariantError } from '../../core/errors.ts'
import { badFile, quoted } from '../files/file-errors.ts'
import type { BaseModel } from './adapter-model.ts'
import { bytesOf, type LoraHalf, type LoraPart, numbersOf, scaleOf } from './lora-parts.ts'
import { LORA_ARCHITECTURES } from './lora-modules.ts'
import type { PeftConfig } from './peft-config.ts'

/** A half with its place: of expert `expert` in the GGUF tensor. */
export interface ExpertHalf extends LoraHalf {
  readonly tensor: string
  readonly expert: number
}

/** Halves of experts each by itself; an expert without gets zeros. */
export function planEachExpert(
  halves: readonly ExpertHalf[],
  config: PeftConfig,
  base: BaseModel,
): LoraPart[] {
  const stacks = groupBy(halves, ({ tensor, part }) => partName(tensor, part))
  return Array.from(stacks, ([name, stack]) => {
    const [first] = stack
    if (first === undefined) throw new InvariantError(`no expert has a part of ${name}`)
    const others = stacks.get(partName(first.tensor, first.part === 'A' ? 'B' : 'A')) ?? []
    const byNumber = placeExperts(first, { stack, others }, base)
    const { rows, columns } = first
    return {
      ...{ name, type: 'F32', shape: [columns, rows, byNumber.length] },
      data: async function* () {
        for (const half of byNumber) {
          if (half === null) yield bytesOf(new Float32Array(rows * columns))
          else yield bytesOf(await numbersOf(half, scaleOf(half, config)))
        }
      },
    } satisfies LoraPart
  })
}

function placeExperts(
  { tensor, rows, columns, source }: ExpertHalf,
  { stack, others }: { readonly stack: readonly ExpertHalf[]; readonly others: readonly ExpertHalf[] },
  { tensors, modelId }: BaseModel,
): (ExpertHalf | null)[] {
  const paired = new Set(others.map(({ expert }) => expert))
  // Where the model has no such tensor, what it has is compared with what is planned, and says so.
  const count = tensors.find((one) => one.name === tensor)?.shape[2] ?? 1
  const byNumber: (ExpertHalf | null)[] = Array.from({ length: count }, () => null)
  for (const half of stack) {
    const { name, filePath } = half.source
    if (!paired.has(half.expert)) throw badFile(filePath, `lacks the other half of tensor ${quoted(name)}`)
    if (half.rows !== rows || half.columns !== columns)
      throw badFile(
        filePath,
        `has tensor ${quoted(name)} of ${half.rows} x ${half.columns}, but ${quoted(source.name)} of ${rows} x ${columns}: experts of a layer must have one rank`,
      )
    if (half.expert >= count)
      throw badFile(
        filePath,
        `has tensor ${quoted(name)}, but its base model ${quoted(modelId)} has no such expert: it was made for another model`,
      )
    byNumber[half.expert] = half
  }
  return byNumber
}

/**
 * Halves for all experts of layer `layer`, of which there are at most two pairs: for gate and up, which are one parameter, and for
 * down. The names do not say which is which, but the sizes do. A has the rows of one expert after those of the other; the columns
 * of B go through the experts first, and then through the ranks.
 *
 * @throws StartError where a pair is of neither
 */
export function planAllExperts(
  halves: readonly LoraHalf[],
  layer: number,
  { config, base }: { readonly config: PeftConfig; readonly base: BaseModel },
): LoraPart[] {
  const sizes = base.tensors.find(({ name }) => name === tensorName(layer, 'gate'))?.shape ?? []
  const [{ source } = {}] = halves
  if (sizes.length === 0)
    throw badFile(
      source?.filePath ?? '',
      `has tensor ${quoted(source?.name ?? '')}, but its base model ${quoted(base.modelId)} has no experts in that layer: it was made for another model`,
    )
  const pairs = groupBy(halves, ({ module }) => module)
  return Array.from(pairs.values()).flatMap((pair) => {
    const { a, b } = wholePair(pair)
    const matrices = matricesOf({ a, b }, sizes, base)
    const [, , count = 0] = sizes
    const rank = a.rows / count
    if (!Number.isInteger(rank) || rank < 1 || a.rows !== b.columns)
      throw badFile(
        a.source.filePath,
        `has tensor ${quoted(a.source.name)} of ${a.rows} rows, and ${b.columns} columns for them, which are no rank for each of ${count} experts`,
      )
    const parameter = `${a.module.replace(/\.base_layer$/, '')}.${matrices.length === 1 ? 'down_proj' : 'gate_up_proj'}`
    const scale = config.alphaOf(parameter, rank) / config.alpha
    return matrices.flatMap(({ name, ...picks }): LoraPart[] => [
      {
        ...{ name: partName(tensorName(layer, name), 'A'), type: 'F32', shape: [a.columns, rank, count] },
        data: async function* () {
          yield bytesOf(await numbersOf(a))
        },
      },
      {
        ...{ name: partName(tensorName(layer, name), 'B'), type: 'F32', shape: [rank, picks.rows, count] },
        data: async function* () {
          yield bytesOf(byExpert(await numbersOf(b, scale), { ...picks, rank, count }))
        },
      },
    ])
  })
}

interface LoraPair {
  readonly a: LoraHalf
  readonly b: LoraHalf
}

function wholePair(pair: readonly LoraHalf[]): LoraPair {
  const [a, b] = [pair.find(({ part }) => part === 'A'), pair.find(({ part }) => part === 'B')]
  if (a !== undefined && b !== undefined) return { a, b }
  const { name = '', filePath = '' } = (a ?? b)?.source ?? {}
  throw badFile(filePath, `lacks the other half of tensor ${quoted(name)}`)
}

/** The matrices of an expert that a pair is for, and their rows in it. */
function matricesOf(
  { a, b }: LoraPair,
  [size = 0, gateRows = 0]: readonly number[],
  { architecture, modelId }: BaseModel,
): (RowPicks & { readonly name: string })[] {
  if (a.columns === size && b.rows === 2 * gateRows) return gateAndUp(architecture, gateRows)
  if (a.columns === gateRows && b.rows === size) return [{ name: 'down', first: 0, step: 1, rows: size }]
  throw badFile(
    a.source.filePath,
    `has tensor ${quoted(a.source.name)} for matrices of ${b.rows} x ${a.columns}, but experts of its base model ${quoted(modelId)} have ${2 * gateRows} x ${size} (gate and up) and ${size} x ${gateRows} (down): it was made for another model, or saved by a PEFT before 0.19`,
  )
}

interface RowPicks {
  readonly first: number
  readonly step: number
  readonly rows: number
}

function gateAndUp(architecture: string, rows: number): (RowPicks & { readonly name: string })[] {
  const takesTurns = LORA_ARCHITECTURES.get(architecture)?.gateUp === 'turns'
  const step = takesTurns ? 2 : 1
  return [
    { name: 'gate', first: 0, step, rows },
    { name: 'up', first: takesTurns ? 1 : rows, step, rows },
  ]
}

/** Rows x (ranks x experts) as experts x rows x ranks, with the rows that are picked. */
function byExpert(
  b: Float32Array,
  { first, step, rows, rank, count }: RowPicks & { readonly rank: number; readonly count: number },
): Float32Array {
  const numbers = new Float32Array(count * rows * rank)
  let at = 0
  for (let expert = 0; expert < count; expert++) {
    for (let row = 0; row < rows; row++) {
      const begin = (first + row * step) * rank * count + expert
      for (let one = 0; one < rank; one++) numbers[at++] = b[begin + one * count] ?? 0
    }
  }
  return numbers
}

const tensorName = (layer: number, matrix: string) => `blk.${layer}.ffn_${matrix}_exps.weight`
const partName = (tensor: string, part: 'A' | 'B') => `${tensor}.lora_${part.toLowerCase()}`

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key) ?? []
    groups.set(key, group)
    group.push(item)
  }
  return groups
}
