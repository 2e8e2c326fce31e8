/// The state that a store shows, without its type. A greater version is a later state.
public struct ShownState: Sendable {
  /// What may differ from the state before.
  public struct Changes: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// The observer was added: there was no state before for it.
    public static let observation = Self(rawValue: 1)
    /// The value or the error.
    public static let value = Self(rawValue: 2)
    /// The store was invalidated.
    public static let invalidation = Self(rawValue: 4)
    /// A client has taken or dropped the store.
    public static let membership = Self(rawValue: 8)
  }

  /// What may differ from the state before.
  public let changes: Changes

  /// Ascends with the changes of one store.
  public let version: UInt64

  /// Whether the last invalidation has not been answered.
  public let isInvalidated: Bool

  /// The last invalidation that the run of the value had seen when it began, or the client when the value was set or an
  /// optimistic update was added.
  public let epoch: InvalidationEpoch

  /// Whether a client has the store.
  public let isInClient: Bool

  /// The context of the run whose result this change has set, with the entries of its outcome; nil for another change.
  public let resultContext: OperationContext?

  /// Whether the result of a run has replaced the whole value.
  public let isWholeResult: Bool

  private let shown: any StoredState
  private let confirmed: any StoredState

  init(
    _ machine: borrowing StoreMachine,
    _ changes: Changes,
    isInClient: Bool,
    resultContext: OperationContext? = nil,
    isWholeResult: Bool = false,
    epoch: InvalidationEpoch? = nil
  ) {
    self.changes = changes
    self.version = machine.version
    self.isInvalidated = machine.isInvalidated
    self.epoch = epoch ?? machine.valueEpoch
    self.isInClient = isInClient
    self.resultContext = resultContext
    self.isWholeResult = isWholeResult
    self.shown = machine.shownState
    self.confirmed = machine.state
  }

  /// Whether a run is under way.
  public var isLoading: Bool { self.shown.isLoading }

  /// The type of the state.
  public var type: any (OperationState & Sendable).Type { Swift.type(of: self.shown.typed) }

  /// The state with its type; nil if it has another type.
  ///
  /// - Parameter type: The type of the state.
  /// - Returns: The state, with optimistic updates applied.
  public func state<State: OperationState & Sendable>(as type: State.Type) -> State? {
    self.shown.state(as: State.self)
  }

  /// The state without optimistic updates; nil if it has another type.
  ///
  /// - Parameter type: The type of the state.
  /// - Returns: The state that runs and setters have produced.
  public func confirmedState<State: OperationState & Sendable>(as type: State.Type) -> State? {
    self.confirmed.state(as: State.self)
  }
}

extension StoredState {
  /// The state with its type; nil if it has another type.
  fileprivate func state<State: OperationState & Sendable>(as type: State.Type) -> State? {
    guard Self.self == State.self || Self.self == StateBox<State>.self else { return nil }
    return self.value(as: State.self)
  }
}
