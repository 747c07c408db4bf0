/** Quantizing with the pinned llama.cpp: what it writes, and that the engine computes nearly the same with it. */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { progressOfLine, withoutProgress } from '../../src/engines/llamacpp/quantize/quantize-process.ts'
import { quantizeWeights } from '../../src/engines/llamacpp/quantize/quantize-weights.ts'
import { openLlamaRunner } from '../../src/engines/llamacpp/open-runner.ts'
import { convertCheckpoint } from '../../src/checkpoints/conversion/convert.ts'
import { type GgufModel, openGgufModel } from '../../src/checkpoints/gguf/gguf-file.ts'
import { gguf } from '../../src/checkpoints/gguf/gguf-format.ts'
import { layoutGguf, writeGguf } from '../../src/checkpoints/gguf/gguf-writer.ts'
import { resolveModelFile } from '../../src/checkpoints/model-file.ts'
import {
  estimateBytes,
  type QuantFormat,
  summarizeQuantization,
} from '../../src/checkpoints/quantization/quantization-plan.ts'

const SMALL_LLAMA = path.resolve(import.meta.dirname, '../data/small-llama')
const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-quantize-'))
afterAll(() => rmSync(folder, { recursive: true }))

let source: GgufModel
beforeAll(async () => {
  const options = { checkpoint: SMALL_LLAMA, modelConfig: null, tokenizer: null, dataDir: folder }
  source = (await resolveModelFile({ ...options, convert: convertCheckpoint })).model
})

async function quantize(format: QuantFormat): Promise<GgufModel> {
  const outputPath = path.join(folder, `${format}.gguf`)
  await quantizeWeights({ sourcePath: source.path, outputPath, format, threads: 1 }, () => {})
  return openGgufModel(outputPath)
}

/** The greedy continuation of a sum, as token bytes. */
async function answer(modelPath: string): Promise<string> {
  const runner = await openLlamaRunner(
    {
      modelId: 'small-llama',
      modelPath,
      maxBatchSize: 1,
      maxSeqLen: 256,
      threads: 1,
      gpu: 'off',
      gpuLayers: null,
      kvCacheType: 'f16',
    },
    () => {},
  )
  try {
    const promptTokenIds = runner.tokenize({
      pieces: ['Question: How much is 4 plus 3?\nAnswer:'],
      addSpecial: true,
    })
    const sampling = { temperature: 0, topK: 0, topP: 1, repetitionPenalty: 1, seed: null }
    let starts = [{ slotId: 0, promptTokenIds, sampling, cachedTokens: 0, copyFromSlotId: null }]
    let run = { slotId: 0, position: 0, tokenIds: promptTokenIds, wantsToken: true }
    const bytes: Uint8Array[] = []
    for (let count = 0; count < 8; count++) {
      const tokenId = runner.execute({ starts, runs: [run] }).tokenIds[0] ?? 0
      bytes.push(runner.tokenBytes(tokenId))
      run = { ...run, position: run.position + run.tokenIds.length, tokenIds: Int32Array.of(tokenId) }
      starts = []
    }
    return Buffer.concat(bytes).toString('utf8')
  } finally {
    runner.close()
  }
}

describe('quantizeWeights', () => {
  it.each([
    ['fp8', 'Q8_0', 4_467_840],
    ['Q8_0', 'Q8_0', 4_467_840],
    ['Q4_K_M', 'Q4_K', 2_758_800],
    ['IQ4_NL', 'IQ4_NL', 2_600_000],
  ] as const)('writes a model as %s that still adds up', async (format, type, bytes) => {
    const quantized = await quantize(format)
    const { layersQuantized, sizeBytes } = summarizeQuantization(source, quantized)
    expect(layersQuantized).toBe(29)
    expect(sizeBytes / bytes).toBeCloseTo(1, format === 'IQ4_NL' ? 0 : 6)
    expect(sizeBytes).toBeLessThanOrEqual(estimateBytes(format, source))
    const types = new Set(quantized.tensors.map((tensor) => tensor.type))
    expect(types).toContain(type)
    expect(await answer(quantized.path)).toContain('4 + 3 = 7')
  })

  it('says why the output cannot be written, which llama.cpp does not', async () => {
    const outputPath = path.join(folder, 'missing/out.gguf')
    await expect(
      quantizeWeights({ sourcePath: source.path, outputPath, format: 'Q8_0', threads: 1 }, () => {}),
    ).rejects.toThrow(`Cannot write ${outputPath}: it does not exist.`)
  })

  it('says that llama.cpp could not when the disk is not the reason', async () => {
    const sourcePath = path.join(folder, 'headless.gguf')
    const tensors = [{ name: 'blk.0.a.weight', shape: [32, 2], type: 'F32' as const }]
    const metadata = new Map([
      ['general.architecture', gguf.string('llama')],
      ['tokenizer.ggml.model', gguf.string('gpt2')],
      ['tokenizer.ggml.tokens', gguf.strings(['a'])],
    ])
    await writeGguf(sourcePath, layoutGguf(metadata, tensors), async function* ({ sizeBytes }) {
      yield new Uint8Array(sizeBytes)
    })
    const outputPath = path.join(folder, 'headless-out.gguf')
    await expect(
      quantizeWeights({ sourcePath, outputPath, format: 'Q8_0', threads: 1 }, () => {}),
    ).rejects.toThrow(`llama.cpp could not quantize ${sourcePath} to Q8_0.`)
  })
})

describe('progressOfLine', () => {
  it('is the share of tensors that are done', () => {
    const line = '[  19/  38] blk.1.ffn_up.weight - [ 256, 768, 1, 1], type = f16, converting to q8_0 ..'
    expect(progressOfLine(line)).toBeCloseTo(0.55)
    expect(progressOfLine('llama_model_loader: loaded meta data')).toBeNull()
    expect(withoutProgress(line)).toBe('')
    expect(withoutProgress(`${line} llama_model_quantize: failed to quantize: no`)).toBe(
      'llama_model_quantize: failed to quantize: no',
    )
  })
})
