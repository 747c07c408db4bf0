/** What a stored copy goes with: the model's file, llama.cpp's version, and the shape of the context. */
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { RunnerOptions } from '../../../protocol/runner-options.ts'
import type { KvRoom } from '../../../checkpoints/memory/kv-room.ts'
import { LLAMA_VERSION } from '../ffi/libraries.ts'
import type { ShapeManifest } from './copy-folder.ts'

/** Of a file that was just loaded, so that the start waits for no disk; two trainings differ in every block of their weights. */
const SAMPLES = 1024
const SAMPLE_BYTES = 4096

type ShapeOptions = Pick<
  RunnerOptions,
  'modelId' | 'modelPath' | 'kvCacheType' | 'gpu' | 'gpuLayers' | 'metadataOverrides'
> &
  Pick<KvRoom, 'sharedTokens'> & { readonly maxSeqLen: number; readonly maxBatchSize: number }

/** @param tokenBytes what a token takes in a copy, which follows from layers and heads */
export function shapeManifestOf(options: ShapeOptions, tokenBytes: number): ShapeManifest {
  const { modelId, modelPath, kvCacheType, maxSeqLen, gpu, gpuLayers, metadataOverrides = [] } = options
  // llama.cpp reads a copy back into a cache of as many streams only.
  const streams = options.sharedTokens === null ? options.maxBatchSize : 1
  return {
    modelId,
    files: partsOf(modelPath).map(sampleFile),
    llamaCpp: LLAMA_VERSION,
    ...{ kvCacheType, maxSeqLen, streams, tokenBytes, gpu, gpuLayers, metadataOverrides },
  }
}

/** All files of a split, of which the first is given. */
function partsOf(path: string): readonly string[] {
  const count = Number(/-00001-of-(\d{5})\.gguf$/.exec(path)?.[1] ?? 1)
  if (count === 1) return [path]
  const numbers = Array.from({ length: count }, (_, index) => String(index + 1).padStart(5, '0'))
  return numbers.map((number) => path.replace(/-00001-of-/, `-${number}-of-`))
}

/** Size, time of change and a SHA-256 over parts from the first to the last byte. */
function sampleFile(path: string) {
  const file = openSync(path, 'r')
  try {
    const { size, mtimeMs } = fstatSync(file)
    const hash = createHash('sha256')
    const buffer = Buffer.alloc(SAMPLE_BYTES)
    for (let sample = 0; sample < SAMPLES; sample++) {
      const position = Math.floor((Math.max(0, size - SAMPLE_BYTES) * sample) / (SAMPLES - 1))
      hash.update(buffer.subarray(0, readSync(file, buffer, 0, SAMPLE_BYTES, position)))
    }
    return { size, changedMs: Math.floor(mtimeMs), sampleSha256: hash.digest('hex') }
  } finally {
    closeSync(file)
  }
}
