/**
 * Sliding windows: their length and their layers. llama.cpp's graphs of llama, qwen2, qwen3 and phi3 have none. Up to the
 * window's length a text is computed the same with and without one, so for these the window becomes the model's context
 * length: what is served is exact, and a longer prompt is refused (decision 0009).
 */
import type { DecoderConfig } from './decoder-config.ts'
import { badFile, shown } from '../files/file-errors.ts'
import { flagField, type JsonObject, listField, wholeNumberField } from '../files/json-file.ts'

/** The value of `sliding_window`; null when no layer has one. `whenMissing` is transformers' default. */
export function slidingWindow(config: JsonObject, whenMissing: number | null): number | null {
  const { sliding_window: window } = config.fields
  if (window === null || (window === undefined && whenMissing === null)) return null
  return wholeNumberField(config, 'sliding_window', {
    min: 1,
    max: 2 ** 31,
    default: whenMissing ?? undefined,
  })
}

/** Qwen's switch, and the layers it leaves out. */
export function qwenSlidingWindow(config: JsonObject, layers: number): number | null {
  if (!flagField(config, 'use_sliding_window', false)) return null
  const firstSliding = wholeNumberField(config, 'max_window_layers', { min: 0, max: 2 ** 31, default: 28 })
  const sliding = slidingLayers(config, layers) ?? [firstSliding < layers]
  return sliding.includes(true) ? slidingWindow(config, 4096) : null
}

export function withinWindow(decoder: DecoderConfig, window: number | null): DecoderConfig {
  return window === null ? decoder : { ...decoder, contextLength: Math.min(decoder.contextLength, window) }
}

/** Reads `layer_types` of newer configs; null for older ones, which have a field of the architecture's own. */
export function slidingLayers(config: JsonObject, layers: number): boolean[] | null {
  const types = listField(config, 'layer_types')
  if (types.length === 0) return null
  const isKnown = types.every((type) => type === 'sliding_attention' || type === 'full_attention')
  if (types.length === layers && isKnown) return types.map((type) => type === 'sliding_attention')
  throw badFile(
    config.path,
    `is not usable: "layer_types" must name ${layers} layers "full_attention" or "sliding_attention", but is ${shown(types)}`,
  )
}
