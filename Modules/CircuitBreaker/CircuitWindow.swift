/// The results of the last runs, counted in slices of equal length.
///
/// A slice that is older than the window is dropped as a whole. So the window reaches back between nine and ten tenths
/// of its length, and its memory does not depend on the number of runs.
struct CircuitWindow: Sendable {
  private struct Slice: Sendable {
    var runs = 0
    var failures = 0
    var slow = 0
  }

  private static let sliceCount = 10

  private let sliceLength: Int128
  private var slices = [Slice](repeating: Slice(), count: Self.sliceCount)
  /// The number of the newest slice, counted from an elapsed time of zero.
  private var newest: Int128 = 0
  /// The index and the end of the newest slice. They are stored because computing them takes a division.
  private var newestIndex = 0
  private var newestEnd: Duration

  /// The number of runs in the window.
  private(set) var runs = 0
  /// The number of failed runs in the window.
  private(set) var failures = 0
  /// The number of slow runs in the window.
  private(set) var slow = 0

  init(length: Duration) {
    // Rounded up, so that no slice is empty.
    let count = Int128(Self.sliceCount)
    self.sliceLength = (length.attoseconds + count - 1) / count
    self.newestEnd = Duration(attoseconds: self.sliceLength)
  }

  /// Drops the slices that are too old. A time before the newest slice counts as the time of that slice.
  mutating func advance(to now: Duration) {
    guard now >= self.newestEnd else { return }
    let slice = now.attoseconds / self.sliceLength
    if slice - self.newest >= Int128(Self.sliceCount) {
      self.removeAll()
    } else {
      for number in (self.newest + 1)...slice { self.clear(Self.index(of: number)) }
    }
    self.newest = slice
    self.newestIndex = Self.index(of: slice)
    self.newestEnd = Duration(attoseconds: (slice + 1) * self.sliceLength)
  }

  /// Counts a run in the newest slice.
  mutating func add(isFailure: Bool, isSlow: Bool) {
    let index = self.newestIndex
    self.slices[index].runs += 1
    self.runs += 1
    if isFailure {
      self.slices[index].failures += 1
      self.failures += 1
    }
    guard isSlow else { return }
    self.slices[index].slow += 1
    self.slow += 1
  }

  /// Forgets all runs.
  mutating func removeAll() {
    for index in self.slices.indices { self.slices[index] = Slice() }
    (self.runs, self.failures, self.slow) = (0, 0, 0)
  }

  private mutating func clear(_ index: Int) {
    self.runs -= self.slices[index].runs
    self.failures -= self.slices[index].failures
    self.slow -= self.slices[index].slow
    self.slices[index] = Slice()
  }

  private static func index(of slice: Int128) -> Int {
    Int(slice % Int128(Self.sliceCount))
  }
}
