/** What a model's weight matrices are turned into when it is loaded; what each means stands in docs/quantization.md. */
export const QUANT_MODES = ['int4', 'int8', 'fp8'] as const

/** A mode that changes weights. */
export type QuantMode = (typeof QUANT_MODES)[number]

export const QUANTIZATIONS = ['none', ...QUANT_MODES] as const

export type Quantization = (typeof QUANTIZATIONS)[number]
