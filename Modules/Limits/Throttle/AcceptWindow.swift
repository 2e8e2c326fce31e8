internal import OperationCore

/// The requests and accepts of the last time, counted in ten slices: a slice that is too old is dropped as a whole.
struct AcceptWindow: Sendable {
  private struct Slice: Sendable {
    var requests = 0
    var accepts = 0
  }

  private static let sliceCount: Int128 = 10

  let length: Duration
  private var slices = [Slice](repeating: Slice(), count: Int(Self.sliceCount))
  private var newest: Int128 = 0
  private(set) var requests = 0
  private(set) var accepts = 0

  init(length: Duration) {
    self.length = length
  }

  /// Rounded up, so that no slice is empty.
  private var sliceLength: Int128 { max((self.length.attoseconds + Self.sliceCount - 1) / Self.sliceCount, 1) }

  /// Drops the slices that are too old. Time never goes back.
  mutating func advance(to now: Duration) {
    let slice = now.attoseconds / self.sliceLength
    guard slice > self.newest else { return }
    let firstNew = max(self.newest + 1, slice - Self.sliceCount + 1)
    for number in firstNew...slice { self.clear(Int(number % Self.sliceCount)) }
    self.newest = slice
  }

  /// Counts a request. Returns the number of its slice.
  mutating func addRequest() -> Int128 {
    self.slices[Int(self.newest % Self.sliceCount)].requests += 1
    self.requests += 1
    return self.newest
  }

  /// Forgets all counts, and begins with those of the last moments.
  mutating func restart(requests: Int, accepts: Int) {
    self.slices = [Slice](repeating: Slice(), count: Int(Self.sliceCount))
    self.slices[Int(self.newest % Self.sliceCount)] = Slice(requests: requests, accepts: accepts)
    (self.requests, self.accepts) = (requests, accepts)
  }

  mutating func addAccept() {
    self.slices[Int(self.newest % Self.sliceCount)].accepts += 1
    self.accepts += 1
  }

  /// Forgets a request, unless its slice is dropped.
  mutating func removeRequest(of slice: Int128) {
    let index = Int(slice % Self.sliceCount)
    guard slice > self.newest - Self.sliceCount, slice <= self.newest, self.slices[index].requests > 0 else { return }
    self.slices[index].requests -= 1
    self.requests -= 1
  }

  private mutating func clear(_ index: Int) {
    self.requests -= self.slices[index].requests
    self.accepts -= self.slices[index].accepts
    self.slices[index] = Slice()
  }
}
