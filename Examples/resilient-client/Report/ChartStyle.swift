/// The colours and fonts of the chart, which is light or dark as its reader wishes.
enum ChartStyle {
  static let css = """
    text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
    text.title { font-size: 19px; font-weight: 600 }
    text.panel { font-weight: 600 }
    text.phase-name { font-weight: 600 }
    text.muted, text.tick { font-size: 12px; fill: #59636e }
    .paper { fill: #ffffff }
    .grid { stroke: #8c959f; stroke-opacity: 0.4; stroke-width: 1; fill: none }
    .phase { fill-opacity: 0.14 }
    .healthy, .recovered { fill: #2da44e; fill-opacity: 0.07 }
    .slow { fill: #d4a72c }
    .overloaded { fill: #e16f24 }
    .down { fill: #cf222e }
    .curve { fill: none; stroke-width: 2.2; stroke-linejoin: round; stroke-linecap: round }
    .dashed { stroke-dasharray: 2 5 }
    .curve.bare { stroke: #bc4c00 }
    .curve.full { stroke: #0969da }
    .dot.bare { fill: #bc4c00 }
    .dot.full { fill: #0969da }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      text.muted, text.tick { fill: #9198a1 }
      .paper { fill: #0d1117 }
      .phase { fill-opacity: 0.2 }
      .healthy, .recovered { fill-opacity: 0.1 }
      .curve.bare { stroke: #ffa657 }
      .curve.full { stroke: #58a6ff }
      .dot.bare { fill: #ffa657 }
      .dot.full { fill: #58a6ff }
    }
    """
}
