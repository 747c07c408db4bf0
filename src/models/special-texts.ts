/**
 * Finds where a text would be read as a model's special tokens, so that text a user wrote can be cut there and is
 * tokenized as the plain text it is. One walk through a trie per position: linear in practice, whatever the number
 * of special tokens.
 */
interface TrieNode {
  readonly next: Map<string, TrieNode>
  isEnd: boolean
}

export class SpecialTexts {
  readonly #root: TrieNode = { next: new Map(), isEnd: false }

  constructor(texts: readonly string[]) {
    for (const text of texts) {
      let node = this.#root
      for (const character of text) node = child(node, character)
      node.isEnd = true
    }
  }

  /**
   * Puts `mark` inside each special text that `content` holds, and behind a beginning of one at its end, which what
   * follows could complete.
   */
  breakUp(content: string, mark: string): string {
    const end = content.trimEnd().length
    const characters = Array.from(content.slice(0, end))
    let broken = ''
    let isOpenAtEnd = false
    for (const [index, character] of characters.entries()) {
      const found = this.#matchAt(characters, index)
      broken += found === 'whole' ? character + mark : character
      isOpenAtEnd ||= found === 'beginning'
    }
    return broken + (isOpenAtEnd ? mark : '') + content.slice(end)
  }

  /** `whole`: a special text stands at the index; `beginning`: the text ends in the middle of what may become one. */
  #matchAt(characters: readonly string[], index: number): 'whole' | 'beginning' | 'nothing' {
    let node = this.#root
    for (let i = index; i < characters.length; i++) {
      const next = node.next.get(characters[i] ?? '')
      if (next === undefined) return 'nothing'
      if (next.isEnd) return 'whole'
      node = next
    }
    return 'beginning'
  }
}

function child(node: TrieNode, character: string): TrieNode {
  const known = node.next.get(character)
  if (known !== undefined) return known
  const added: TrieNode = { next: new Map(), isEnd: false }
  node.next.set(character, added)
  return added
}
