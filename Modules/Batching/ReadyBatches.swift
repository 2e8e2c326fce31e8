/// The closed batches that wait until fewer are under way, in the order in which they were closed.
///
/// Each operation takes constant time on average.
struct ReadyBatches {
  /// Nil in place of those that were removed.
  private var places: [Batch?] = []
  private var first = 0
  private(set) var count = 0

  /// The places that are kept: at most twice as many as batches, and a few.
  var placeCount: Int { self.places.count }

  mutating func append(_ batch: Batch) {
    batch.state.readyPlace = self.places.count
    self.places.append(batch)
    self.count += 1
  }

  /// Removes a batch, which is among these.
  mutating func remove(_ batch: Batch) {
    self.places[batch.state.readyPlace] = nil
    self.count -= 1
    self.dropEmptyPlaces()
  }

  mutating func popFirst() -> Batch? {
    while self.first < self.places.count {
      let batch = self.places[self.first].take()
      self.first += 1
      guard let batch else { continue }
      self.count -= 1
      self.dropEmptyPlaces()
      return batch
    }
    return nil
  }

  private mutating func dropEmptyPlaces() {
    guard self.places.count > 2 * self.count + 16 else { return }
    self.places.removeAll { $0 == nil }
    self.first = 0
    for (place, batch) in self.places.enumerated() { batch?.state.readyPlace = place }
  }
}
