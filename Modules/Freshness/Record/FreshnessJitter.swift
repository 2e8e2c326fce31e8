internal import OperationCore
internal import Synchronization

/// A source of random numbers from 0 to 1 that all stores of an operation share.
struct RandomShares: Sendable {
  let next: @Sendable () -> Double

  init(_ generator: some RandomNumberGenerator & Sendable) {
    let numbers = LockedGenerator(generator)
    self.next = { numbers.next() }
  }
}

private final class LockedGenerator<Generator: RandomNumberGenerator & Sendable>: Sendable {
  private let generator: Mutex<Generator>

  init(_ generator: Generator) {
    self.generator = Mutex(generator)
  }

  func next() -> Double {
    self.generator.withLock { Double.random(in: 0...1, using: &$0) }
  }
}

/// Shortens the fresh period of each value of one store by a share of its own, which is drawn once.
final class FreshnessJitter: Sendable {
  private let maximum: Double
  private let shares: RandomShares
  /// Newest last. More than one, because threads may read a value while another one takes its place.
  private let draws = Locked<[(key: ValueKey, share: Double)]>([])

  /// - Parameters:
  ///   - maximum: The largest share to take away, from 0 to 1.
  ///   - shares: Where the shares come from.
  init(_ maximum: Double, _ shares: RandomShares) {
    self.maximum = maximum
    self.shares = shares
  }

  func shortened(_ seconds: Double, of key: ValueKey) -> Double {
    self.maximum > 0 ? seconds * (1 - self.maximum * self.share(of: key)) : seconds
  }

  private func share(of key: ValueKey) -> Double {
    if let share = self.draws.withLock({ draws in draws.last { $0.key == key }?.share }) { return share }
    let drawn = self.shares.next()
    return self.draws.withLock { draws in
      if let known = draws.last(where: { $0.key == key }) { return known.share }
      if draws.count == 4 { draws.removeFirst() }
      draws.append((key, drawn))
      return drawn
    }
  }
}

extension Double {
  /// This number as a share from 0 to 1. Another number is reported.
  func reportedUnlessShare(in argument: String) -> Double {
    if self >= 0, self <= 1 { return self }
    let share = self > 1 ? 1.0 : 0
    OperationWarning(
      code: .invalidArgument,
      message: "`\(argument)` was given the share \(self). It counts as \(share); pass a number from 0 to 1."
    ).report()
    return share
  }
}
