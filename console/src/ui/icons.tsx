/** Line icons on a grid of 20, drawn with the text's colour. They say nothing to a screen reader: words beside them do. */

const PATHS = {
  playground: 'M3.5 5.5h13v8h-7l-3.5 3v-3h-2.5z',
  keys: 'M8.2 11.8a3.6 3.6 0 1 1 1.4-1.4L16.5 17.3M13.5 14.3l1.8-1.8',
  usage: 'M4 16.5v-5M8 16.5v-9M12 16.5v-6M16 16.5v-12',
  people:
    'M7.5 9.5a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6M2.5 16.5c0-3 2-4.6 5-4.6s5 1.6 5 4.6M13 4.2a2.7 2.7 0 0 1 0 5M14.5 12.2c1.9.6 3 2 3 4.3',
  models: 'M10 2.8l6.5 3.4v7.6L10 17.2l-6.5-3.4V6.2zM3.5 6.2L10 9.6l6.5-3.4M10 9.6v7.6',
  health: 'M2.5 10.5h4l2-5.5 3 10 2-4.5h4',
  more: 'M5 10h.01M10 10h.01M15 10h.01',
  close: 'M5 5l10 10M15 5L5 15',
  copy: 'M7 7V3.8h9.2V13H13M3.8 7H13v9.2H3.8z',
  send: 'M10 16.5v-13M4.5 9L10 3.5 15.5 9',
  stop: 'M5.5 5.5h9v9h-9z',
  again: 'M15.8 8.5A6 6 0 1 0 16 11M16 4v4.5h-4.5',
  edit: 'M4 16l.8-3.6L13.2 4l2.8 2.8-8.4 8.4z',
  code: 'M7 6l-4 4 4 4M13 6l4 4-4 4',
  settings: 'M4 6h7M15 6h1M4 14h1M9 14h7M13 4v4M7 12v4',
  history: 'M4 10a6 6 0 1 0 2-4.5L4 7.2M4 3.8v3.4h3.4M10 7v3.4l2.2 1.4',
  plus: 'M10 4v12M4 10h12',
  split: 'M3.5 4.5h13v11h-13zM10 4.5v11',
  trash: 'M4.5 6h11M8 6V4h4v2M6 6l.7 10h6.6L14 6',
  download: 'M10 3.5v9M6.5 9L10 12.5 13.5 9M4 16.5h12',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) {
  const isDots = name === 'more'
  return (
    <svg width={size} height={size} viewBox="0 0 20 20" fill="none" aria-hidden="true" focusable="false">
      <path
        d={PATHS[name]}
        stroke="currentColor"
        stroke-width={isDots ? 2.6 : 1.6}
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  )
}
