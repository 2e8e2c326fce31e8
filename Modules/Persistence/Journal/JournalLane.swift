/// The calls of a scope, in order.
///
/// The first call may come later in the order than other calls: a dead letter that is tried again is inserted behind a
/// call that is being made.
struct JournalLane: Sendable {
  typealias Place = JournalState.Place

  private var places: [Place] = []
  /// The index of the first call. Calls nearly always leave in order, so the array need not be moved.
  private var start = 0

  /// The number of callers that wait for their turn, or are about to.
  var callerCount = 0
  /// The calls without a number in the storage, in order.
  private var unnumbered: [Place] = []
  /// The number of calls to make again, without the first.
  var dueCount = 0
  /// Whether the first call cannot be made now.
  var isBlocked = false

  var first: Place? { self.start < self.places.count ? self.places[self.start] : nil }
  var all: ArraySlice<Place> { self.places[self.start...] }
  var behindFirst: ArraySlice<Place> { self.all.dropFirst() }
  var isEmpty: Bool { self.start == self.places.count }

  /// The number of calls in front of a call.
  func count(before place: Place) -> Int {
    self.first == place ? 0 : self.index(of: place, from: self.start) - self.start
  }

  /// The last call in front of a call that has no number in the storage; nil if all of them have.
  func unnumbered(before place: Place) -> Place? {
    let index = Self.index(of: place, in: self.unnumbered, from: 0)
    return index > 0 ? self.unnumbered[index - 1] : nil
  }

  /// Notes whether a call has a number in the storage.
  mutating func setUnnumbered(_ isUnnumbered: Bool, _ place: Place) {
    let index = Self.index(of: place, in: self.unnumbered, from: 0)
    let isKnown = index < self.unnumbered.count && self.unnumbered[index] == place
    if isUnnumbered, !isKnown { self.unnumbered.insert(place, at: index) }
    if !isUnnumbered, isKnown { self.unnumbered.remove(at: index) }
  }

  mutating func insert(_ place: Place, behindFirst: Bool) {
    if !behindFirst { self.sortFirst() }
    let lower = self.start + (behindFirst ? 1 : 0)
    self.places.insert(place, at: self.index(of: place, from: lower))
  }

  /// Puts the first call where it belongs, if others were inserted behind it while it was being made.
  private mutating func sortFirst() {
    guard let first = self.first, let second = self.behindFirst.first, second < first else { return }
    self.places.remove(at: self.start)
    self.places.insert(first, at: self.index(of: first, from: self.start))
  }

  mutating func remove(_ place: Place) {
    if self.first == place {
      self.start += 1
      if self.start > 32, self.start > self.places.count / 2 {
        self.places.removeFirst(self.start)
        self.start = 0
      }
      return
    }
    let index = self.index(of: place, from: min(self.start + 1, self.places.count))
    if index < self.places.count, self.places[index] == place { self.places.remove(at: index) }
  }

  /// The index of the first place, from `lower` on, that is not smaller than the given place.
  private func index(of place: Place, from lower: Int) -> Int { Self.index(of: place, in: self.places, from: lower) }

  private static func index(of place: Place, in places: [Place], from lower: Int) -> Int {
    // The place is nearly always behind the last one.
    if let last = places.last, lower < places.count, last < place { return places.count }
    var (low, high) = (lower, places.count)
    while low < high {
      let middle = low + (high - low) / 2
      if places[middle] < place { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
