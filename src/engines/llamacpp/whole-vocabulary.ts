/**
 * A draw from the whole vocabulary, as without top_k, most of whose tokens cost no more than two comparisons. The
 * vocabulary is split at a floor: the head above it is weighed; a token of the tail only when a throw hits it, or to be
 * added up for top_p. The distribution is that of weighing all of them.
 */
import type { Sampling } from '../../protocol/engine.ts'
import { findLargest, keepAbove, keepHeaviest, keepTop, pick, weigh, type Candidates } from './candidates.ts'
import { fastExp } from './fast-exp.ts'
import type { Random } from './random.ts'

/** What the tail weighs at most, where the likeliest token weighs 1: with top_p little, because what is kept must lie in the head. */
const LIGHT_TAIL = 0.1
/** Else much, because a throw that misses costs less than a token that is weighed. */
const HEAVY_TAIL = 64
/** Tried before there is a head: where many tokens are nearly as likely as the likeliest, one of these hits. */
const FIRST_THROWS = 32
/** A float's neighbour is further away. */
const FLOAT_PRECISION = 1e-9

interface Split {
  /** The largest logit, to which weights are relative. */
  readonly largest: number
  /** The head's logits are above it. */
  readonly floor: number
  /** What the head weighs. */
  readonly sum: number
  /** What a token of the tail weighs at most. */
  readonly heaviest: number
}

/** The id of a token; `scratch` is overwritten. @throws InvariantError for logits that no distribution has */
export function drawFromAll(
  logits: Float32Array,
  scratch: Candidates,
  { temperature, topP }: Pick<Sampling, 'temperature' | 'topP'>,
  random: Random,
): number {
  const largest = logits[findLargest(logits)] as number
  if (topP < 1) {
    const split = makeSplit(logits, scratch, { largest, temperature, tail: LIGHT_TAIL })
    return pick(scratch, random() * keepShare(logits, scratch, { ...split, temperature, topP }))
  }
  scratch.count = 0
  const allTail = { largest, floor: largest, sum: 0, heaviest: 1 }
  for (let i = 0; i < FIRST_THROWS; i++) {
    const tokenId = throwOnce(logits, scratch, allTail, temperature, random())
    if (tokenId !== null) return tokenId
  }
  const split = makeSplit(logits, scratch, { largest, temperature, tail: HEAVY_TAIL })
  for (;;) {
    const tokenId = throwOnce(logits, scratch, split, temperature, random())
    if (tokenId !== null) return tokenId
  }
}

/** Fills `head` with the weights of the likely tokens, the likeliest among them; the others weigh `tail` at most. */
function makeSplit(
  logits: Float32Array,
  head: Candidates,
  { largest, temperature, tail }: { largest: number; temperature: number; tail: number },
): Split {
  const heaviest = Math.min(tail / logits.length, 1)
  const floor = Math.min(
    largest + Math.log(heaviest) * temperature,
    // A lower floor is as right, and below this one the likeliest token never is, however large.
    largest - Math.abs(largest) * FLOAT_PRECISION,
  )
  keepAbove(head, logits, floor)
  return { largest, floor, sum: weigh(head, temperature), heaviest }
}

/** Keeps the heaviest tokens that weigh `topP` of all, out of the head where it holds them; returns what they weigh. */
function keepShare(
  logits: Float32Array,
  head: Candidates,
  { largest, floor, sum, temperature, topP }: Split & { temperature: number; topP: number },
): number {
  const needed = topP * (sum + weighTail(logits, floor, largest, temperature))
  if (needed <= sum) return keepHeaviest(head, sum, needed)
  keepTop(head, logits, logits.length)
  const whole = weigh(head, temperature)
  return keepHeaviest(head, whole, topP * whole)
}

/** What the logits up to `floor` weigh, relative to the largest. */
function weighTail(logits: Float32Array, floor: number, largest: number, temperature: number): number {
  const inverse = 1 / temperature
  let sum = 0
  for (let i = 0; i < logits.length; i++) {
    const logit = logits[i] as number
    if (logit <= floor) sum += fastExp((logit - largest) * inverse)
  }
  return sum
}

/**
 * Rejection sampling (von Neumann, 1951), exact without the tail's sum. On a line lie the weights of the head, and after
 * them a box of `heaviest` for each token of the vocabulary, at whose start a token of the tail has its weight. Null for
 * what falls beside a weight: it is to be thrown again.
 */
function throwOnce(
  logits: Float32Array,
  head: Candidates,
  { largest, floor, sum, heaviest }: Split,
  temperature: number,
  random: number,
): number | null {
  const target = random * (sum + heaviest * logits.length)
  if (target < sum) return pick(head, target)
  const box = Math.floor((target - sum) / heaviest)
  const logit = logits[box]
  if (logit === undefined || logit > floor) return null
  const weight = fastExp((logit - largest) / temperature)
  return target - sum - box * heaviest < weight ? box : null
}
