/// The horizontal axis of a chart.
struct TimeAxis {
  let left = 84.0
  let right = 936.0
  /// The length of the time, in whole seconds.
  let seconds: Int
  /// The distance of two labels, in seconds.
  let step: Int

  /// The place of a time.
  func x(_ time: Double) -> Double {
    self.left + time / Double(self.seconds) * (self.right - self.left)
  }

  func elements(at bottom: Double) -> [String] {
    let labels = stride(from: 0, through: self.seconds, by: self.step).map { second in
      text("tick", self.x(Double(second)), bottom + 18, "\(second)", anchor: "middle")
    }
    return labels + [
      text("muted", (self.left + self.right) / 2, bottom + 40, "time since the start, in s", anchor: "middle")
    ]
  }
}
