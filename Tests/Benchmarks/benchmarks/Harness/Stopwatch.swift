internal import Counters

/// Measures the time or the allocations between its starts and its stops.
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

/// The allocations in a part of the program.
struct Allocated: Sendable {
  /// The number of allocated blocks.
  var count = 0
  /// The number of allocated blocks less that of freed blocks.
  var blocksLeft = 0
  /// The number of allocated bytes less that of freed bytes.
  var bytesLeft = 0

  /// Whether allocations can be counted on this system.
  static let isCountable = allocation_counting_is_available()

  fileprivate mutating func add(_ count: AllocationCount) {
    self.count += Int(count.allocations)
    self.blocksLeft += Int(count.liveBlocks)
    self.bytesLeft += Int(count.liveBytes)
  }
}
