// @ts-check
/**
 * In what batches the two servers compute a prompt. llama.cpp rounds differently in batches of different shapes, so answers of
 * a model that amplifies rounding are comparable to the last bit only where both compute the same batches.
 */

/**
 * @typedef {object} Shapes
 * @property {string} says
 * @property {Record<string, unknown>} ours what our requests say of it
 * @property {Record<string, unknown>} theirs the same of llama-server's
 * @property {string[]} ourWords of our command line
 * @property {string[]} words of llama-server's
 * @property {boolean} areEqual whether answers must be equal, not only part at ties
 */

/** What a seed makes of a prompt with us: chunks of this size, and nothing from a prompt before it. */
const SEEDED_CHUNK_TOKENS = '128'
/**
 * By default llama-server's cache of a layer with a sliding window holds little more than the window, and the last four tokens of
 * a prompt are computed apart, for a copy of that cache before them. With this it is as ours.
 */
const WHOLE_CACHE = '--swa-full'

/** A token that the text itself lets guess is verified in one batch with the next. */
const NO_GUESSES = ['--speculation', 'off']

/** @satisfies {Record<string, Shapes>} */
export const SHAPES = {
  fresh: {
    says: 'each prompt computed from its first token',
    ours: { seed: 0 },
    theirs: { cache_prompt: false },
    ourWords: NO_GUESSES,
    words: [WHOLE_CACHE, '-b', SEEDED_CHUNK_TOKENS, '-ub', SEEDED_CHUNK_TOKENS],
    areEqual: true,
  },
  reused: {
    says: 'what a prompt has in common with the one before it reused',
    ours: {},
    theirs: { cache_prompt: true },
    ourWords: NO_GUESSES,
    words: [WHOLE_CACHE],
    areEqual: true,
  },
  own: {
    says: 'llama-server with its own defaults',
    ours: {},
    theirs: { cache_prompt: false },
    ourWords: [],
    words: [],
    areEqual: false,
  },
}
