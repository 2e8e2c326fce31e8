import Synchronization

/// Elements in the order in which handlers received them.
final class Log<Element: Sendable>: Sendable {
  private let state = Mutex<[Element]>([])

  var all: [Element] { self.state.withLock { $0 } }

  func append(_ element: Element) {
    self.state.withLock { $0.append(element) }
  }
}

/// The same numbers for the same seed, so that a failure can be seen again.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    self.state = seed
  }

  mutating func next() -> UInt64 {
    self.state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = self.state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
