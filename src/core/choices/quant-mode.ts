/** The formats to which weight matrices are quantized when a model is loaded; docs/quantization.md describes each. */
export const QUANT_MODES = ['int4', 'int8', 'fp8'] as const

/** A mode that changes weights. */
export type QuantMode = (typeof QUANT_MODES)[number]

export const QUANTIZATIONS = ['none', ...QUANT_MODES] as const

export type Quantization = (typeof QUANTIZATIONS)[number]
