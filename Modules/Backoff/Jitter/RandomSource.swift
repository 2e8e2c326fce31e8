internal import Synchronization

/// A source of random delays: the system's generator, or one passed by the user.
struct RandomSource: Sendable {
  private let next: @Sendable (ClosedRange<Int128>) -> Int128

  static let system = RandomSource { Int128.random(in: $0) }

  private init(next: @escaping @Sendable (ClosedRange<Int128>) -> Int128) {
    self.next = next
  }

  init(_ generator: some RandomNumberGenerator & Sendable) {
    let generator = LockedGenerator(generator)
    self.init { generator.next(in: $0) }
  }

  func draw(from range: ClosedRange<Delay>) -> Delay {
    Delay(clamping: self.next(range.lowerBound.attoseconds...range.upperBound.attoseconds))
  }
}

/// A generator that all copies of a backoff function share.
private final class LockedGenerator<Generator: RandomNumberGenerator & Sendable>: Sendable {
  private let generator: Mutex<Generator>

  init(_ generator: Generator) {
    self.generator = Mutex(generator)
  }

  func next(in range: ClosedRange<Int128>) -> Int128 {
    self.generator.withLock { Int128.random(in: range, using: &$0) }
  }
}
