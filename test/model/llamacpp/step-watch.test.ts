/** Steps that are broken off because they take too long, and computed again. */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type * as Contexts from '../../../src/engines/llamacpp/context.ts'
import type * as Checks from '../../../src/engines/llamacpp/gguf-check.ts'
import type * as Functions from '../../../src/engines/llamacpp/ffi/bindings.ts'
import type * as Models from '../../../src/engines/llamacpp/model.ts'
import type { SlotRun } from '../../../src/protocol/model-runner.ts'
import { writeTinyModel } from '../../support/engines/llamacpp-tiny-model.ts'

/** Built, because Node starts no thread from TypeScript in every version. */
const BUILT = '../../../dist/engines/llamacpp'
const TOKENS = 200

const folder = mkdtempSync(path.join(os.tmpdir(), 'step-watch-'))
let context: Contexts.Context
let close: () => void

beforeAll(async () => {
  const modelPath = path.join(folder, 'tiny.gguf')
  writeTinyModel(modelPath)
  const { loadLlama }: typeof Functions = await import(`${BUILT}/ffi/bindings.js`)
  const { checkGguf }: typeof Checks = await import(`${BUILT}/gguf-check.js`)
  const { openModel }: typeof Models = await import(`${BUILT}/model.js`)
  const { Context }: typeof Contexts = await import(`${BUILT}/context.js`)
  const api = loadLlama('off')
  const model = openModel(api, { modelPath, ...checkGguf(api, modelPath) }, () => {})
  context = Context.open(api, model, {
    ...{ maxSeqLen: 512, maxBatchSize: 3, sharedTokens: null },
    ...{ kvCacheType: 'f32', usesGpu: false, maxThreads: 2 },
  })
  close = () => {
    context.close()
    model.close()
  }
})
afterAll(() => {
  close()
  rmSync(folder, { recursive: true })
})

/** Behind `position` tokens. */
function runAt(position: number, length = TOKENS, slotId = 0): SlotRun {
  return {
    ...{ slotId, position, wantsToken: true },
    tokenIds: Array.from({ length }, (_, i) => (position + i) % 50),
  }
}

/** Computes them behind what the slots hold, as often as it takes to be broken off. */
function breakOff(runs: readonly SlotRun[], { patienceMs = 0, threads = 1 } = {}): void {
  while (context.decodeWithin(patienceMs, runs, threads)) {
    for (const { slotId, position } of runs) context.trimSlot(slotId, position)
  }
}

const lastLogits = ({ length }: readonly SlotRun[] = [runAt(0)]) => context.logits()[length - 1]?.slice()

it('leaves the KV cache as it was, so that the same step can follow with fewer threads', () => {
  context.decode([runAt(0)])
  context.decode([runAt(TOKENS)])
  const expected = lastLogits()

  context.clear()
  breakOff([runAt(0)], { threads: 2 })
  context.decode([runAt(0)], 1)
  breakOff([runAt(TOKENS)], { threads: 2 })
  context.decode([runAt(TOKENS)], 1)
  expect(lastLogits()).toEqual(expected)
})

it('does so also where a part of the slots was done', () => {
  // Slots that do not lie side by side: the short run is computed first, and most breaks come in the long one.
  const runs = [runAt(0, 1), runAt(0, TOKENS, 2)]
  context.clear()
  context.decode(runs)
  const [expected = 0] = lastLogits(runs) ?? []

  for (let round = 0; round < 20; round++) {
    context.clear()
    breakOff(runs, { patienceMs: round % 5 })
    context.decode(runs, 1)
    // Not to the last digit: llama.cpp may put tokens into other cells of a slot that it had planned for, and not come to.
    expect(lastLogits(runs)?.[0]).toBeCloseTo(expected, 3)
  }
})

it('does not touch a step that is done in time, nor one that nobody watches', () => {
  context.clear()
  breakOff([runAt(0)])
  for (let position = 0; position < 20; position += 2) {
    expect(context.decodeWithin(60_000, [runAt(position, 1)], 1)).toBe(true)
    context.decode([runAt(position + 1, 1)], 1)
  }
})
