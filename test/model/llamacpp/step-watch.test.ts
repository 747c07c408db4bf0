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
    ...{ maxSeqLen: 512, maxBatchSize: 2, sharedTokens: null },
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

/** Of slot 0, behind `position` tokens. */
function runAt(position: number, length = TOKENS): SlotRun {
  return {
    ...{ slotId: 0, position, wantsToken: true },
    tokenIds: Array.from({ length }, (_, i) => (position + i) % 50),
  }
}

/** Computes it behind what the slot holds, as often as it takes to be broken off. */
function breakOff(run: SlotRun): void {
  while (context.decodeWithin(0, [run], 2)) context.trimSlot(0, run.position)
}

const lastLogits = () => context.logits()[0]?.slice()

it('leaves the KV cache as it was, so that the same step can follow with fewer threads', () => {
  context.decode([runAt(0)])
  context.decode([runAt(TOKENS)])
  const expected = lastLogits()

  context.clear()
  breakOff(runAt(0))
  context.decode([runAt(0)], 1)
  breakOff(runAt(TOKENS))
  context.decode([runAt(TOKENS)], 1)
  expect(lastLogits()).toEqual(expected)
})

it('does not touch a step that is done in time, nor one that nobody watches', () => {
  context.clear()
  breakOff(runAt(0))
  for (let position = 0; position < 20; position += 2) {
    expect(context.decodeWithin(60_000, [runAt(position, 1)], 2)).toBe(true)
    context.decode([runAt(position + 1, 1)])
  }
})
