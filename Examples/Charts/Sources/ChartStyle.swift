/// The fonts of a chart and the colours of its paper, which is light or dark as its reader wishes.
enum ChartStyle {
  static let css = """
    text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
    text.title { font-size: 19px; font-weight: 600 }
    text.panel { font-weight: 600 }
    text.band-name { font-weight: 600 }
    text.muted, text.tick { font-size: 12px; fill: #59636e }
    .paper { fill: #ffffff }
    .grid { stroke: #8c959f; stroke-opacity: 0.4; stroke-width: 1; fill: none }
    .band { fill-opacity: 0.14 }
    .band.good { fill: #2da44e; fill-opacity: 0.07 }
    .band.slow { fill: #d4a72c }
    .band.overloaded { fill: #e16f24 }
    .band.down { fill: #cf222e }
    .curve { fill: none; stroke-width: 2.2; stroke-linejoin: round; stroke-linecap: round }
    .dashed { stroke-dasharray: 2 5 }
    .curve.bare { stroke: #bc4c00 }
    .curve.full { stroke: #0969da }
    .curve.hand { stroke: #8250df }
    .curve.capacity { stroke: #8c959f }
    .dot.bare { fill: #bc4c00 }
    .dot.full { fill: #0969da }
    .dot.hand { fill: #8250df }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      text.muted, text.tick { fill: #9198a1 }
      .paper { fill: #0d1117 }
      .band { fill-opacity: 0.2 }
      .band.good { fill-opacity: 0.1 }
      .curve.bare { stroke: #ffa657 }
      .curve.full { stroke: #58a6ff }
      .curve.hand { stroke: #bc8cff }
      .dot.bare { fill: #ffa657 }
      .dot.full { fill: #58a6ff }
      .dot.hand { fill: #bc8cff }
    }
    """
}
