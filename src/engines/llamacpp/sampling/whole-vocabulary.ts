/**
 * A draw from the whole vocabulary, as without top_k, most of whose tokens cost no more than two comparisons. The
 * vocabulary is split at a floor: the head above it is weighed; a token of the tail only when a try hits it, or to be
 * added up for top_p. The distribution is that of weighing all of them.
 */
import type { Sampling } from '../../../protocol/engine.ts'
import {
  findLargest,
  inverseOf,
  keepAbove,
  keepAtLeast,
  keepHeaviest,
  keepTop,
  pick,
  weigh,
  type Candidates,
} from './candidates.ts'
import { fastExp } from './fast-exp.ts'
import { createRandom, type Random } from './random.ts'

/** What the tail weighs at most, the likeliest token weighing 1: with top_p little, as what is kept must lie in the head. */
const LIGHT_TAIL = 0.1
/** Else much, because a try that misses costs less than a token that is weighed. */
const HEAVY_TAIL = 64
/** Tried before there is a head: where many tokens are nearly as likely as the likeliest, one of these hits. */
const FIRST_TRIES = 32
/** Tokens of the tail that are weighed in one call. */
const SLICE_TOKENS = 1024
/** A float's neighbour is further away. */
const FLOAT_PRECISION = 1e-9
/** The error of a token's weight, as a part of it, is smaller. */
const WEIGHT_PRECISION = 1e-6

export interface Distribution extends Pick<Sampling, 'temperature' | 'topP'> {
  readonly logits: Float32Array
  /** Memory for the head. */
  readonly head: Candidates
  /** 0 is off. */
  readonly minP: number
}

/** Weights are relative to that of the largest logit. */
interface Split {
  readonly largest: number
  /** The head's logits are above it. */
  readonly floor: number
  /** What the head weighs. */
  readonly sum: number
  /** What a token of the tail weighs at most. */
  readonly heaviest: number
}

/**
 * The id of a token. Takes one number of `random`, so that a sequence may go on behind its tokens: further tries have a generator of
 * their own, which that number seeds.
 * @throws InvariantError for logits of no distribution
 */
export function drawFromAll(distribution: Distribution, random: Random): number {
  const { logits, head, topP, minP } = distribution
  const largest = logits[findLargest(logits)] as number
  if (topP < 1) {
    const split = makeSplit(distribution, largest, LIGHT_TAIL)
    const sum = keepShare(distribution, split)
    return pick(head, random() * (minP > 0 ? keepAtLeast(head, minP) : sum))
  }
  if (minP > 0) return pick(head, random() * keepLikely(distribution, largest))
  head.count = 0
  const allTail = { largest, floor: largest, sum: 0, heaviest: 1 }
  const first = random()
  const hit = tryToDraw(distribution, allTail, first)
  if (hit !== null) return hit
  const next = createRandom(Math.floor(first * 2 ** 53))
  for (let i = 1; i < FIRST_TRIES; i++) {
    const tokenId = tryToDraw(distribution, allTail, next())
    if (tokenId !== null) return tokenId
  }
  const split = makeSplit(distribution, largest, HEAVY_TAIL)
  for (;;) {
    const tokenId = tryToDraw(distribution, split, next())
    if (tokenId !== null) return tokenId
  }
}

/** Fills the head with the weights of the likely tokens, the likeliest among them; the others weigh `tail` at most. */
function makeSplit({ logits, head, temperature }: Distribution, largest: number, tail: number): Split {
  const heaviest = Math.min(tail / logits.length, 0.5)
  const floor = floorOf(largest, Math.log(heaviest) * temperature)
  keepAbove(head, logits, floor)
  return { largest, floor, sum: weigh(head, temperature), heaviest }
}

/** A floor at a distance below the largest logit, or lower where that is no distance between such floats. */
function floorOf(largest: number, difference: number): number {
  return Math.min(largest + difference, largest - Math.abs(largest) * FLOAT_PRECISION)
}

/** Keeps the tokens that weigh min_p at least; returns what they weigh. */
function keepLikely({ logits, head, temperature, minP }: Distribution, largest: number): number {
  // Lower than the cut by more than rounding: what lies between is weighed and then cut.
  keepAbove(head, logits, floorOf(largest, (Math.log(minP) - WEIGHT_PRECISION) * temperature))
  weigh(head, temperature)
  return keepAtLeast(head, minP)
}

/** Keeps the heaviest tokens that weigh top_p of all, out of the head where it holds them; returns what they weigh. */
function keepShare(distribution: Distribution, split: Split): number {
  const { logits, head, temperature, topP } = distribution
  const needed = topP * (split.sum + weighTail(distribution, split))
  if (needed <= split.sum) return keepHeaviest(head, split.sum, needed)
  keepTop(head, logits, logits.length)
  const whole = weigh(head, temperature)
  return keepHeaviest(head, whole, topP * whole)
}

function weighTail(distribution: Distribution, split: Split): number {
  let sum = 0
  for (let start = 0; start < distribution.logits.length; start += SLICE_TOKENS) {
    sum += weighSlice(distribution, split, start)
  }
  return sum
}

/**
 * Called often, and each call is short: V8 then optimizes it as a whole. A loop over all tokens it may optimize from within its
 * first call, before anything is known of what stands above the loop, and that code takes up to twice as long.
 */
function weighSlice({ logits, temperature }: Distribution, { largest, floor }: Split, start: number): number {
  const inverse = inverseOf(temperature)
  const end = Math.min(start + SLICE_TOKENS, logits.length)
  let sum = 0
  for (let i = start; i < end; i++) {
    const logit = logits[i] as number
    if (logit <= floor) sum += fastExp((logit - largest) * inverse)
  }
  return sum
}

/**
 * One try of the rejection sampler (von Neumann, 1951), which is exact without the tail's sum. On a line lie the weights of the head, and after
 * them a box of `heaviest` for each token of the vocabulary, at whose start a token of the tail has its weight. Null for
 * what falls beside a weight: it is to be tried again.
 */
function tryToDraw(
  { logits, head, temperature }: Distribution,
  { largest, floor, sum, heaviest }: Split,
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
