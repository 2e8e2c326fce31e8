/// A state whose value has parts that change one by one: the pages of a list, or a query's value as its only part.
///
/// It is for modules that compute something from each part, such as tags.
public protocol PartitionedOperationState: OperationState {
  /// Identifies a part: a page by its identifier, the only part by ``WholeValueID``.
  associatedtype ValuePartID: Hashable & Sendable

  /// A part of the value.
  associatedtype ValuePart: Sendable

  /// Calls `body` with the parts that differ between two values.
  ///
  /// Parts that are the same in both values may be visited, too: that costs time and changes no result.
  ///
  /// - Parameters:
  ///   - value: The value of a state of this kind.
  ///   - earlier: An earlier value; nil to visit all parts of `value`.
  ///   - body: Receives the identifier of each part, with the part; nil if `value` no longer has it.
  func forEachChangedPart(
    of value: StateValue,
    since earlier: StateValue?,
    _ body: (ValuePartID, ValuePart?) -> Void
  )
}

/// Identifies the only part of a value that has one part.
public struct WholeValueID: Hashable, Sendable {
  /// Creates the identifier, which is equal to all others.
  public init() {}
}

extension QueryState: PartitionedOperationState {
  /// The value is the only part.
  public typealias ValuePartID = WholeValueID

  /// The whole value.
  public typealias ValuePart = Value

  /// Calls `body` with the value, or with nil if there is none.
  public func forEachChangedPart(
    of value: Value?,
    since earlier: Value??,
    _ body: (WholeValueID, Value?) -> Void
  ) {
    body(WholeValueID(), value)
  }
}

extension DefaultOperationState: PartitionedOperationState where Base: PartitionedOperationState {
  /// Identifies a part of the wrapped state's value.
  public typealias ValuePartID = Base.ValuePartID

  /// A part of the wrapped state's value.
  public typealias ValuePart = Base.ValuePart

  /// Calls `body` with the parts that differ between two values. A default value has parts, too.
  public func forEachChangedPart(
    of value: Base.DefaultStateValue,
    since earlier: Base.DefaultStateValue?,
    _ body: (Base.ValuePartID, Base.ValuePart?) -> Void
  ) {
    self.base.forEachChangedPart(
      of: self.base.stateValue(for: value),
      since: earlier.map { self.base.stateValue(for: $0) },
      body
    )
  }
}
