/**
 * Finds where a text would be read as a model's special tokens, so that text a user wrote can be cut there and is
 * tokenized as the plain text it is. One walk through a trie per position: linear in practice, whatever the number
 * of special tokens. Copies whole stretches, because a text may be a megabyte.
 */
interface TrieNode {
  /** By UTF-16 unit. */
  readonly next: Map<number, TrieNode>
  isEnd: boolean
}

interface SpecialCount {
  readonly count: number
  readonly end: number
}

export class SpecialTexts {
  readonly #root: TrieNode = { next: new Map(), isEnd: false }
  /** 1 for each UTF-16 unit that a special text begins with: most positions of a text are done with one look. */
  readonly #begins = new Uint8Array(0x1_0000)

  constructor(texts: readonly string[]) {
    for (const text of texts) {
      if (text !== '') this.#begins[text.charCodeAt(0)] = 1
      let node = this.#root
      for (let i = 0; i < text.length; i++) node = child(node, text.charCodeAt(i))
      node.isEnd = true
    }
  }

  /**
   * Puts `mark` inside each special text that `content` holds, and behind a beginning of one at its end, which what
   * follows could complete.
   */
  breakUp(content: string, mark: string): string {
    const end = content.trimEnd().length
    let broken = ''
    let copied = 0
    let isOpenAtEnd = false
    for (let i = 0; i < end; i++) {
      if (this.#begins[content.charCodeAt(i)] !== 1) continue
      const found = this.#matchAt(content, i, end)
      isOpenAtEnd ||= found === 'beginning'
      if (found !== 'whole') continue
      const behindFirst = i + ((content.codePointAt(i) ?? 0) > 0xffff ? 2 : 1)
      broken += content.slice(copied, behindFirst) + mark
      copied = behindFirst
    }
    return broken + content.slice(copied, end) + (isOpenAtEnd ? mark : '') + content.slice(end)
  }

  /**
   * How many special texts begin between `from` and `to`, one behind the other, the longest at each place; `end` is where the
   * last one ends, or `to`.
   */
  count(text: string, { from, to }: { readonly from: number; readonly to: number }): SpecialCount {
    let count = 0
    let i = from
    while (i < to) {
      const length = this.lengthAt(text, i)
      if (length > 0) count++
      i += Math.max(length, 1)
    }
    return { count, end: i }
  }

  /** Of the longest special text that stands at the index; 0 where none does. */
  lengthAt(text: string, index: number): number {
    if (this.#begins[text.charCodeAt(index)] !== 1) return 0
    let node: TrieNode | undefined = this.#root
    let length = 0
    for (let i = index; i < text.length; i++) {
      node = node.next.get(text.charCodeAt(i))
      if (node === undefined) break
      if (node.isEnd) length = i + 1 - index
    }
    return length
  }

  /** `whole`: a special text stands at the index; `beginning`: the text ends in the middle of what may become one. */
  #matchAt(text: string, index: number, end: number): 'whole' | 'beginning' | 'nothing' {
    let node = this.#root
    for (let i = index; i < end; i++) {
      const next = node.next.get(text.charCodeAt(i))
      if (next === undefined) return 'nothing'
      if (next.isEnd) return 'whole'
      node = next
    }
    return 'beginning'
  }
}

function child(node: TrieNode, unit: number): TrieNode {
  const known = node.next.get(unit)
  if (known !== undefined) return known
  const added: TrieNode = { next: new Map(), isEnd: false }
  node.next.set(unit, added)
  return added
}
