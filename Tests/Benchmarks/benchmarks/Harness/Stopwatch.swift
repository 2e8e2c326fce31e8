internal import Counters

/// Measures what happens between its starts and its stops: the time, or what is allocated.
struct Stopwatch {
  enum Quantity {
    case time
    case allocations
  }

  let quantity: Quantity
  private(set) var elapsed = Duration.zero
  private(set) var allocated = Allocated()
  private var startedAt: ContinuousClock.Instant?

  init(_ quantity: Quantity) {
    self.quantity = quantity
  }

  mutating func start() {
    switch self.quantity {
    case .time: self.startedAt = .now
    case .allocations: allocation_counting_start()
    }
  }

  mutating func stop() {
    switch self.quantity {
    case .time:
      let now = ContinuousClock.now
      guard let startedAt = self.startedAt else { return }
      self.elapsed += startedAt.duration(to: now)
      self.startedAt = nil
    case .allocations:
      self.allocated.add(allocation_counting_stop())
    }
  }
}

/// What was allocated in a stretch of the program.
struct Allocated: Sendable {
  /// How many blocks were allocated.
  var count = 0
  /// How many of them, less those that were there before and were freed, are left.
  var blocksLeft = 0
  /// The bytes of the blocks that are left.
  var bytesLeft = 0

  /// Whether this system lets us count.
  static let isCountable = allocation_counting_is_available()

  fileprivate mutating func add(_ count: AllocationCount) {
    self.count += Int(count.allocations)
    self.blocksLeft += Int(count.liveBlocks)
    self.bytesLeft += Int(count.liveBytes)
  }
}
