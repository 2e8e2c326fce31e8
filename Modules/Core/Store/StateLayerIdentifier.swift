internal import Synchronization

/// Where layers are among the others of a store: above those with smaller places.
package struct StateLayerPlace: Hashable, Comparable, Sendable {
  private static let last = Atomic<Int64>(0)
  private let rawValue: Int64

  private init(_ rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// Returns a place above all that were made before.
  package static func next() -> Self { Self(Self.last.wrappingAdd(1, ordering: .relaxed).newValue) }

  /// Returns a place beneath all of this start of the program: `number` is negative, and greater for a later call.
  package static func earlierProcess(_ number: Int64) -> Self {
    precondition(number < 0, "The number of a call of an earlier start must be negative, and is \(number).")
    return Self(number)
  }

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Identifies one layer, which may be added to any number of stores, and is at the same place in each.
@usableFromInline
package struct StateLayerIdentifier: Hashable, Comparable, Sendable {
  private let place: StateLayerPlace
  /// Tells the layers of one place apart: the later one is above.
  private let number: StateLayerPlace

  /// - Parameter place: The place of the layer; nil for one above all others.
  package init(at place: StateLayerPlace? = nil) {
    self.number = .next()
    self.place = place ?? self.number
  }

  @usableFromInline
  package static func < (a: Self, b: Self) -> Bool { (a.place, a.number) < (b.place, b.number) }
}
