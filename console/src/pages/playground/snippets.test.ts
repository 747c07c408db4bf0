/** What the browser tests do not run: that each language's text is whole, whatever a message holds. */
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { createSnippet } from './snippets.ts'

const request = {
  model: 'demo',
  messages: [{ role: 'user', content: `it's "quoted" \\ and $HOME \`x\`\n\u2028é` }],
  temperature: 0.5,
  top_k: 20,
  tools: [{ type: 'function', function: { name: 'f', parameters: { additionalProperties: false } } }],
}

const options = { request, baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'sk-x' }

describe('createSnippet', () => {
  it('gives curl the very body', () => {
    const script = createSnippet('curl', options).replace(/^curl/, 'print_last')
    const printed = execFileSync('bash', ['-c', `print_last() { printf %s "\${@: -1}"; }\n${script}`], {
      encoding: 'utf8',
    })
    expect(JSON.parse(printed)).toEqual({ ...request, stream: true })
  })

  it('gives Python names and values of its own, and extensions as an extra body', () => {
    const text = createSnippet('Python', options)
    expect(text).toContain('temperature=0.5,')
    expect(text).toContain('"additionalProperties": False,')
    expect(text).toContain('extra_body={\n        "top_k": 20,\n    },')
  })

  it('gives TypeScript what its types allow', () => {
    const text = createSnippet('TypeScript', { ...options, apiKey: null })
    expect(text).toContain('apiKey: process.env.SLUICE_API_KEY')
    expect(text).toContain('as object),')
  })
})
