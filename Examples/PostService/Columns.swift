package enum ColumnAlignment {
  case left, right
}

extension String {
  /// The text with blanks up to `width`; a longer one is left as it is.
  package func padding(to width: Int, alignment: ColumnAlignment = .left) -> String {
    let blanks = String(repeating: " ", count: max(0, width - self.count))
    return alignment == .left ? self + blanks : blanks + self
  }
}

extension Duration {
  package var milliseconds: Int {
    Int(self / .milliseconds(1))
  }

  /// Seconds with three places after the point.
  package var seconds: String {
    let fraction = String(self.milliseconds % 1000)
    return "\(self.milliseconds / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
  }
}

extension Int {
  /// How often something happened: "once", "twice", "3 times".
  package var times: String {
    switch self {
    case 1: "once"
    case 2: "twice"
    default: "\(self) times"
    }
  }
}
