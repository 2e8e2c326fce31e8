internal import Synchronization

/// The position of layers among the layers of a store: layers with greater places are above.
public struct StateLayerPlace: Hashable, Comparable, Sendable {
  private static let last = Atomic<Int64>(0)
  private let rawValue: Int64

  private init(_ rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// Returns a place above all places that were made before.
  public static func next() -> Self { Self(Self.last.wrappingAdd(1, ordering: .relaxed).newValue) }

  /// Makes a place for a call that an earlier process has accepted.
  ///
  /// - Parameter number: A negative number, greater for a later call.
  /// - Returns: A place below all places that this process makes.
  public static func earlierProcess(_ number: Int64) -> Self {
    precondition(number < 0, "The number of a call of an earlier process must be negative, and is \(number).")
    return Self(number)
  }

  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Identifies a layer, which may be added to several stores and has the same place in each.
public struct StateLayerIdentifier: Hashable, Comparable, Sendable {
  private let place: StateLayerPlace
  /// Orders the layers with the same place: the later one is above.
  private let number: StateLayerPlace

  /// Creates the identifier of a new layer.
  ///
  /// - Parameter place: The place of the layer; nil for a place above all others.
  public init(at place: StateLayerPlace? = nil) {
    self.number = .next()
    self.place = place ?? self.number
  }

  public static func < (a: Self, b: Self) -> Bool { (a.place, a.number) < (b.place, b.number) }
}
