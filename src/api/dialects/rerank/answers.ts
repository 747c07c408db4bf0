/** Scores as `/v1/rerank` answers them: the most relevant documents first, and the earlier one of two that are alike. */
import { newId } from '../../../core/ids.ts'
import type { Reranked } from '../../../generation/reranking.ts'
import type { AnswerOf } from '../frames.ts'
import type { ParsedRerank, rerankResponse } from './schema.ts'

export function toRerankResponse(
  { modelId, scores, promptTokens }: Reranked,
  { documents, topN, returnsDocuments }: ParsedRerank,
): AnswerOf<typeof rerankResponse> {
  const ranked = Array.from(scores, (score, index) => ({ index, score }))
    .sort((one, other) => other.score - one.score || one.index - other.index)
    .slice(0, topN)
  return {
    id: `rerank-${newId()}`,
    object: 'list',
    model: modelId,
    results: ranked.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(returnsDocuments && { document: { text: documents[index] ?? '' } }),
    })),
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
  }
}
