/** Shows what `markdown.ts` read as elements. No text of a model is ever given to the page as HTML. */
import type { JSX } from 'preact'
import { Code } from '../../../ui/parts.tsx'
import { type Block, type Inline, parseInline, parseMarkdown } from './markdown.ts'

export function Markdown({ text }: { readonly text: string }) {
  return <div class="prose">{parseMarkdown(text).map(showBlock)}</div>
}

const HEADINGS = ['h3', 'h3', 'h4', 'h5', 'h6', 'h6'] as const

function showBlock(block: Block, key: number): JSX.Element {
  switch (block.kind) {
    case 'paragraph':
      return <p key={key}>{showInline(block.text)}</p>
    case 'heading': {
      const Heading = HEADINGS[block.level - 1] ?? 'h6'
      return <Heading key={key}>{showInline(block.text)}</Heading>
    }
    case 'code':
      return <Code key={key} text={block.text} language={block.language} />
    case 'quote':
      return <blockquote key={key}>{block.blocks.map(showBlock)}</blockquote>
    case 'list': {
      const items = block.items.map((blocks, index) => <li key={index}>{blocks.map(showBlock)}</li>)
      return block.start === null ? (
        <ul key={key}>{items}</ul>
      ) : (
        <ol key={key} start={block.start}>
          {items}
        </ol>
      )
    }
    case 'table':
      return <Table key={key} {...block} />
    case 'rule':
      return <hr key={key} />
  }
}

function Table({
  head,
  rows,
}: {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}) {
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index}>{showInline(cell)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, index) => (
                <td key={index}>{showInline(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const showInline = (text: string) => parseInline(text).map(showPart)

function showPart(part: Inline, key: number): JSX.Element | string {
  switch (part.kind) {
    case 'text':
      return part.text
    case 'code':
      return <code key={key}>{part.text}</code>
    case 'strong':
      return <strong key={key}>{part.parts.map(showPart)}</strong>
    case 'emphasis':
      return <em key={key}>{part.parts.map(showPart)}</em>
    case 'struck':
      return <s key={key}>{part.parts.map(showPart)}</s>
    case 'link':
      return (
        <a key={key} href={part.href} target="_blank" rel="noopener noreferrer nofollow">
          {part.parts.map(showPart)}
        </a>
      )
  }
}
