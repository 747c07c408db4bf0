/** Writes the parts of a SentencePiece model (tokenizer.model), byte by byte. */
export const varint = (value: number): number[] =>
  value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...varint(Math.floor(value / 0x80))]
const sized = (field: number, bytes: readonly number[]) => [
  (field << 3) | 2,
  ...varint(bytes.length),
  ...bytes,
]
const float = (value: number) => [...Buffer.from(new Float32Array([value]).buffer)]

export const piece = (text: string, score: number, type?: number) =>
  sized(1, [
    ...sized(1, [...Buffer.from(text)]),
    (2 << 3) | 5,
    ...float(score),
    ...(type === undefined ? [] : [3 << 3, type]),
  ])
export const trainer = (modelType: number) => sized(2, [3 << 3, modelType])
