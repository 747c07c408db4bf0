/**
 * What a reranking model with a template reads: the template, filled with a query and a document. It is tokenized whole, because
 * models were trained so: where pieces meet, other tokens would stand. It is cut only where a special text would be read that
 * is not the template's own.
 */
import type { SpecialTexts } from '../checkpoints/tokenizers/special-texts.ts'
import type { RankedPair } from '../protocol/model-info.ts'

interface PairTexts {
  readonly query: string
  readonly document: string
}

/** The pieces of a prompt. */
export function fillTemplate(
  { before, between, after }: RankedPair,
  { query, document }: PairTexts,
  specialTexts: SpecialTexts,
): readonly string[] {
  const parts = [before, query, between, document, after]
  const text = parts.join('')
  const pieces: string[] = []
  let pieceStart = 0
  let start = 0
  for (const [index, part] of parts.entries()) {
    const isTemplate = index % 2 === 0
    const end = start + part.length
    for (let i = start; i < end; i++) {
      const length = specialTexts.lengthAt(text, i)
      if (length === 0 || (isTemplate && i + length <= end)) continue
      const cut = isTemplate ? end : i + ((text.codePointAt(i) ?? 0) > 0xffff ? 2 : 1)
      if (cut > pieceStart) pieces.push(text.slice(pieceStart, cut))
      pieceStart = cut
    }
    start = end
  }
  return [...pieces, text.slice(pieceStart)].filter((piece) => piece !== '')
}
