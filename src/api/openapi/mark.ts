/** The mark of this server, which its pages carry: that of the console is `console/src/mark.svg`. */
export const MARK_SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0f6b62"/><path d="M7 8v16M25 8v16" stroke="#fff" stroke-width="3" stroke-linecap="round"/><path d="M11 13h10M11 18h7M11 23h10" stroke="#8fe3d6" stroke-width="2.6" stroke-linecap="round"/></svg>'
