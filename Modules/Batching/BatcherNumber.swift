internal import Synchronization

/// Stands in for the name of a batcher in paths. No other batcher of the process has the same.
struct BatcherNumber: Hashable, Sendable {
  private let number: UInt64

  private static let last = Atomic<UInt64>(0)

  static func next() -> BatcherNumber {
    BatcherNumber(number: self.last.add(1, ordering: .relaxed).newValue)
  }
}

extension BatcherNumber: CustomStringConvertible {
  var description: String { "batcher \(self.number)" }
}
