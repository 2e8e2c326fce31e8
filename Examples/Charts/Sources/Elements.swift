/// A number with one place after the point at most.
func number(_ value: Double) -> String {
  let rounded = (value * 10).rounded() / 10
  return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
}

func text(_ style: String, _ x: Double, _ y: Double, _ text: String, anchor: String = "start") -> String {
  guard !text.isEmpty else { return "" }
  return #"<text class="\#(style)" x="\#(number(x))" y="\#(number(y))" text-anchor="\#(anchor)">\#(text)</text>"#
}

func rect(_ style: String, _ x: Double, _ y: Double, _ width: Double, _ height: Double) -> String {
  #"<rect class="\#(style)" x="\#(number(x))" y="\#(number(y))" width="\#(number(width))" height="\#(number(height))"/>"#
}
