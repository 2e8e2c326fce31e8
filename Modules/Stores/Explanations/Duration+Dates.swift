package import OperationFoundation

extension Duration {
  /// The time from a date to a later one: at least zero, and at most a hundred years.
  package static func since(_ date: Date, at later: Date) -> Duration {
    let seconds = later.timeIntervalSince(date)
    // The comparison is false if the number is NaN.
    return seconds > 0 ? .seconds(min(seconds, 3_153_600_000)) : .zero
  }
}
