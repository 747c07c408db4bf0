/**
 * Swagger UI as `/docs/` shows it: with our title and mark, and with what a screen reader, a keyboard and eyes that need contrast miss
 * in it. axe finds nothing in it any more.
 */
import type { FastifySwaggerUiOptions } from '@fastify/swagger-ui'
import { MARK_SVG } from './mark.ts'

/** The mark stands beside the title, where Swagger's own bar would be. There is one server: this one. */
const STYLE = `
.swagger-ui .info .title::before {
  content: ''; display: inline-block; width: 36px; height: 36px; margin-right: 12px; vertical-align: -6px;
  background: url(mark.svg);
}
.swagger-ui .info .title small, .swagger-ui .info hgroup a, .swagger-ui .servers, .swagger-ui .servers-title { display: none }
.swagger-ui .info a, .swagger-ui .btn.authorize, .swagger-ui .btn.authorize span { color: #0f6b62 }
.swagger-ui .btn.authorize { border-color: #0f6b62 }
.swagger-ui .btn.authorize svg { fill: #0f6b62 }
.swagger-ui .btn.execute, .swagger-ui .opblock.opblock-post .opblock-summary-method { background: #0f6b62; border-color: #0f6b62 }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1d5fa8 }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #6b4fa0 }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #b3261e }
.swagger-ui .btn { transition: none }
.swagger-ui .download-contents { color: #fff; background: #333 }
.swagger-ui .btn.cancel { color: #b3261e; border-color: #b3261e }
.swagger-ui .json-schema-2020-12-expand-deep-button { color: #555 }
.swagger-ui .microlight span[style*="211, 99, 99"] { color: #ff9c9c !important }
`

/** Names, levels and landmarks that Swagger's elements lack, each as soon as it is there. */
const SCRIPT = `
const mends = [
  ['#swagger-ui', (one) => one.setAttribute('role', 'main')],
  ['h3.opblock-tag, .models > h4', (one) => one.setAttribute('aria-level', '2')],
  ['.opblock-body h4', (one) => one.setAttribute('aria-level', '3')],
  ['.opblock-body h5', (one) => one.setAttribute('aria-level', '4')],
  ['.copy-to-clipboard button:not([aria-label])', (one) => one.setAttribute('aria-label', 'Copy')],
  // The button around it opens the operation.
  ['.opblock-summary a[href]', (one) => one.removeAttribute('href')],
  ['.examples-select-element:not([aria-label])', (one) => one.setAttribute('aria-label', 'Example')],
  ['select:not([aria-label])', (one) => one.setAttribute('aria-label', 'Content type')],
  ['textarea:not([aria-label])', (one) => one.setAttribute('aria-label', 'Request body')],
  ['pre:not([tabindex]), .microlight:not([tabindex])', (one) => (one.tabIndex = 0)],
]
const mend = () => {
  for (const [selector, change] of mends) document.querySelectorAll(selector).forEach(change)
}
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true })
mend()
`

export const DOCS_PAGE: FastifySwaggerUiOptions = {
  routePrefix: '/docs',
  theme: {
    title: 'Sluice: API',
    favicon: [{ filename: 'mark.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: MARK_SVG }],
    css: [{ filename: 'sluice.css', content: STYLE }],
    js: [{ filename: 'sluice.js', content: SCRIPT }],
  },
  // Without Swagger's bar. A key that is typed in is gone with the page: it is nothing to leave in a browser.
  uiConfig: { layout: 'BaseLayout', persistAuthorization: false, displayRequestDuration: true },
}
