/// The median and the quartiles of many samples.
struct Distribution: Codable, Sendable {
  var median: Double
  var lowerQuartile: Double
  var upperQuartile: Double
  var sampleCount: Int
}

extension Distribution {
  init(of samples: [Double]) {
    let sorted = samples.sorted()
    self.init(
      median: Self.quantile(0.5, of: sorted),
      lowerQuartile: Self.quantile(0.25, of: sorted),
      upperQuartile: Self.quantile(0.75, of: sorted),
      sampleCount: sorted.count
    )
  }

  private static func quantile(_ share: Double, of sorted: [Double]) -> Double {
    guard let last = sorted.indices.last else { return .nan }
    let position = share * Double(last)
    let index = Int(position)
    let next = min(index + 1, last)
    return sorted[index] + (sorted[next] - sorted[index]) * (position - Double(index))
  }
}
