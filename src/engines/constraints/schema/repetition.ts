/**
 * Items that are counted, as rules. XGrammar looks the whole vocabulary through for each place of a grammar while it compiles, some
 * 0.4 ms for 1,000 tokens: a hundred places and a vocabulary of 262,000 take the ten seconds that a constraint may. So long counts have
 * few places: blocks of items, each of them the same rule, and what is left. XGrammar's own way of writing wide ranges is none: each place
 * of a text may then be in any block, and one mask takes half a second.
 */

/** Of items. */
const BLOCK = 8
/** More than a token has, but for rare ones. */
const FOLLOWING = 16
/** Up to so many each have a place. */
const FEW = 24

export interface CountedItem {
  /** Tells it from the other items of a grammar. */
  readonly plain: string
  /** The name of a rule of its other ways to be written. @default it has none */
  readonly other?: string
}

/** Gives the name of the rule with this key, which is written where it is first asked for. */
export type WriteOnce = (key: string, write: () => string) => string

/** @param most Infinity for any number */
export function repeat(item: string, [least, most]: readonly [number, number], writeOnce: WriteOnce): string {
  if (most === 0) return '""'
  if (least === 1 && most === 1) return item
  if (least === 0 && most === 1) return `${item}?`
  if (most <= FEW) return `${item}{${least},${most}}`
  const counted = { plain: item }
  if (most !== Infinity) {
    const rest = upTo(counted, most - least, { end: '""', writeOnce })
    return exactly(counted, least, { rest, writeOnce })
  }
  if (least <= FEW) return least === 0 ? `${item}*` : least === 1 ? `${item}+` : `${item}{${least},}`
  return `(${exactly(counted, least, { rest: nothing(writeOnce), writeOnce })} ${item}*)`
}

interface Following {
  /** The name of a rule of what follows. */
  readonly rest: string
  readonly writeOnce: WriteOnce
}

/** So many items and what follows; many are plain. */
export function exactly(item: CountedItem, count: number, { rest, writeOnce }: Following): string {
  if (count === 0) return rest
  const { plain } = item
  const few = (length: number, one: CountedItem): string =>
    writeOnce(`${length} of ${nameOf(one)} ${rest}`, () =>
      before(one, length === 1 ? rest : few(length - 1, one)),
    )
  if (count <= FEW) return few(count, item)
  const left = FOLLOWING + (count % BLOCK)
  const blocks = Array.from({ length: (count - left) / BLOCK }, () => block(plain, writeOnce))
  return [...blocks, few(left, { plain })].join(' ')
}

interface Ending {
  /** What stands behind the last item. */
  readonly end: string
  readonly writeOnce: WriteOnce
}

/**
 * The name of a rule of at most so many items and the end. Of more than a few: blocks, then what is left. An item that is written in
 * another way ends its block, also where that has had fewer, so that of a text with such items less may be allowed.
 */
export function upTo(item: CountedItem, most: number, { end, writeOnce }: Ending): string {
  const { plain, other } = item
  const few = (length: number, one: CountedItem): string =>
    writeOnce(`up to ${length} of ${nameOf(one)} ${end}`, () =>
      length === 0 ? end : `${end} | ${before(one, few(length - 1, one))}`,
    )
  if (most <= FEW) return few(most, item)
  const shortened = (length: number): string =>
    writeOnce(`up to ${length} of ${plain} and ${other}`, () =>
      length === 0 ? `${other}` : `${other} | ${plain} ${shortened(length - 1)}`,
    )
  let length = FOLLOWING + (most % BLOCK)
  let rest = few(length, item)
  while (length < most) {
    length += BLOCK
    const behind = rest
    const ways = [
      `${block(plain, writeOnce)} ${behind}`,
      ...(other === undefined ? [] : [`${shortened(BLOCK - 1)} ${behind}`]),
      // Of more than a block, for tokens that end the text behind one.
      few(FOLLOWING + BLOCK - 1, { plain }),
    ]
    rest = writeOnce(`up to ${length} of ${nameOf(item)} ${end}, in blocks`, () => ways.join(' | '))
  }
  return rest
}

const nameOf = ({ plain, other }: CountedItem): string => (other === undefined ? plain : `${plain}, ${other}`)

/** It and what follows, as alternatives. */
function before({ plain, other }: CountedItem, rest: string): string {
  return other === undefined ? `${plain} ${rest}` : `${plain} ${rest} | ${other} ${rest}`
}

/**
 * The name of a rule of a block behind which `FOLLOWING` items may stand. A token that ends among those is allowed when XGrammar
 * compiles, and not looked at again for each mask: the assertion says what follows, and XGrammar takes its word for it where a rule is
 * named once, and not at the end of another (`IsExactLookaheadAssertion`). What follows in another way must be allowed elsewhere.
 */
function block(item: string, writeOnce: WriteOnce): string {
  const rest = nothing(writeOnce)
  const one = writeOnce(`one of ${item}`, () => item)
  const inside = writeOnce(`the block of ${item}`, () => {
    return `${times(item, BLOCK)} ${rest} (=(${times(one, FOLLOWING)}))`
  })
  return writeOnce(`a block of ${item}`, () => `${inside} ${rest}`)
}

const times = (item: string, count: number): string => Array.from({ length: count }, () => item).join(' ')

/** XGrammar copies a rule that refers to no other into each that begins with it, and with it all of its places. */
const nothing = (writeOnce: WriteOnce): string => writeOnce('nothing', () => '""')
