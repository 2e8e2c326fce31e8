package import OperationFoundation

/// How the values of one operation are kept in a level: under which keys, in which form, and which of them.
package protocol LevelBinding<State>: Sendable {
  /// The state of the operation.
  associatedtype State: RestorableState & Sendable

  /// Whether changes of the value are put. Otherwise the level is only asked.
  var takesChanges: Bool { get }

  /// How old a value may become; nil for any age.
  var maximumAge: Duration? { get }

  /// The place of a store's value; nil, with a report, if it has none.
  func place(of controls: OperationControls<State>) -> LevelPlace?

  /// Whether a value may be kept.
  func mayKeep(_ value: State.RestorableValue) -> Bool

  /// Encodes a value.
  func encode(_ restoration: State.Restoration) throws -> [UInt8]

  /// Decodes a value, and decides whether it may be used.
  ///
  /// - Returns: The value, and whether the level has it in the form in which it would be put.
  /// - Throws: Why it cannot be used. ``report(_:at:)`` gets it.
  func decode(
    _ value: LevelValue,
    in context: OperationContext
  ) throws -> (restoration: State.Restoration, isCurrent: Bool)

  /// Reports that a value of the level cannot be used, or that it could not be read.
  ///
  /// - Returns: Whether the value stays in the level, and no other is put in its place.
  func report(_ error: any Error, at place: LevelPlace) -> Bool

  /// Called before the level is asked for the value of a new store.
  func restoringBegins(of store: any LevelStore, at place: LevelPlace)

  /// Called when the level has answered, at the latest when the store is released. More often than once if both happen.
  func restoringEnds(of store: any LevelStore, at place: LevelPlace)

  /// Called when the level of a new store was asked.
  func levelWasAsked(at place: LevelPlace, in context: OperationContext)

  /// Called when a store is released, with the date of its value.
  func storeWasReleased(at place: LevelPlace, valueDate: Date?)

  /// Called when a value of the level is used.
  func valueIsUsed(at place: LevelPlace)

  /// What an explanation tells; nil for nothing.
  func section(at place: LevelPlace?, isKept: Bool) -> StoreInspection.Section?
}

extension LevelBinding {
  package var takesChanges: Bool { true }
  package var maximumAge: Duration? { nil }
  package func mayKeep(_ value: State.RestorableValue) -> Bool { true }
  package func restoringBegins(of store: any LevelStore, at place: LevelPlace) {}
  package func restoringEnds(of store: any LevelStore, at place: LevelPlace) {}
  package func levelWasAsked(at place: LevelPlace, in context: OperationContext) {}
  package func storeWasReleased(at place: LevelPlace, valueDate: Date?) {}
  package func valueIsUsed(at place: LevelPlace) {}
  package func section(at place: LevelPlace?, isKept: Bool) -> StoreInspection.Section? { nil }
}

/// Where the value of a store is kept.
package struct LevelPlace: Sendable {
  /// The level.
  package let level: any ValueLevel
  /// The key of the value, and those that it had earlier.
  package let keys: [LevelKey]

  package init(_ level: any ValueLevel, keys: [LevelKey]) {
    self.level = level
    self.keys = keys
  }

  /// The key of the value.
  package var key: LevelKey { self.keys[0] }
}

/// A store whose value is kept in a level, without the type of its state.
package protocol LevelStore: AnyObject, Sendable {
  /// Where its value is kept; nil if it is not, or not any more.
  var place: LevelPlace? { get }

  /// Whether the level is being asked for the value. The snapshot of the client shows it.
  var isRestoring: Bool { get }

  /// Waits until the level has answered, at most for as long as that may take, or until the task is cancelled.
  nonisolated(nonsending) func restored() async

  /// Called before the store is reset, with no lock held. A value that the level returns after this is not shown.
  func storeWillReset()

  /// Called after the store was invalidated, with no lock held. The kept value is stale from now on, whatever its date.
  func storeWasInvalidated()

  /// Puts the value of the store, although the level has not answered yet.
  func handOver()

  /// Called when the kept value was removed on demand. It must not be shown, and the value that the store has is not put
  /// again.
  func valueWasRemoved()

  /// The value of the store, if it may be kept; nil if there is none.
  func currentValue() -> LevelValue?

  /// Gives the store a value of its level.
  func take(_ value: LevelValue) -> LevelArrival
}

/// What has become of a value that a level has given to a store.
package enum LevelArrival: Sendable {
  /// The store shows it.
  case shown
  /// The store has a newer one. The value may be below one that a run has yielded.
  case outdated
  /// It cannot be used. The reason was reported.
  case dropped
}

extension OperationContext {
  /// The stores of levels that the setup has added, in the order in which they are asked.
  package var storeLevels: [any LevelStore] {
    get { self[StoreLevelsKey.self] }
    set { self[StoreLevelsKey.self] = newValue }
  }

  private enum StoreLevelsKey: Key {
    static let defaultValue: [any LevelStore] = []
    static let belongsToSetup = true
  }

  /// Keeps the value of the store that is being set up in a level. Called after the setup of the operation.
  package mutating func keep<Binding: LevelBinding>(with binding: Binding) {
    let readiness = RestorationReadiness()
    // Each store has its own, because a store calls the setup once.
    let storeLevel = StoreLevel(binding, readiness: readiness)
    self.operationControllers.append(storeLevel)
    self.storeLevels.append(storeLevel)
    guard binding.takesChanges, self.isAutomaticRunningConfigured else { return }
    let specification = AnySendableRunSpecification(self.automaticRunningSpecification)
    self.automaticRunningSpecification = specification && readiness
  }
}
