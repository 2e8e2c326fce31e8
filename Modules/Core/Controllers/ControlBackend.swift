/// A store as ``OperationControls`` use it, accessed through its state or through a base of its state.
protocol ControlBackend<State>: Sendable {
  associatedtype State: OperationState & Sendable

  var path: OperationPath { get }
  var context: OperationContext { get }
  var state: State { get }
  var stateWithoutLayers: State { get }
  var isStale: Bool { get }
  var isInvalidated: Bool { get }
  var uncountedChanges: Int { get }
  var subscriberCount: Int { get }
  var canYieldRerun: Bool { get }

  func set(
    isSuccess: Bool,
    using context: OperationContext?,
    _ edit: @escaping @Sendable (inout State, OperationContext) -> Void
  )
  /// Marks the value stale, and returns the number of the invalidation.
  @discardableResult func invalidate() -> Int
  func reset(using context: OperationContext?)
  func makeRerunTask(using context: OperationContext?) -> OperationTask<State.OperationValue, State.Failure>
  func runForSubscribers()
  func rerunSinceChange()
  func withExclusiveAccess<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R
  func observeActivity(_ observer: @escaping @Sendable () -> Void) -> OperationSubscription
}

/// A store, accessed through the base of its state.
private struct BaseBackend<Layered: LayeredOperationState>: ControlBackend {
  let store: any ControlBackend<Layered>

  var path: OperationPath { self.store.path }
  var context: OperationContext { self.store.context }
  var state: Layered.Base { self.store.state.base }
  var stateWithoutLayers: Layered.Base { self.store.stateWithoutLayers.base }
  var isStale: Bool { self.store.isStale }
  var isInvalidated: Bool { self.store.isInvalidated }
  var uncountedChanges: Int { self.store.uncountedChanges }
  var subscriberCount: Int { self.store.subscriberCount }
  var canYieldRerun: Bool { self.store.canYieldRerun }

  func set(
    isSuccess: Bool,
    using context: OperationContext?,
    _ edit: @escaping @Sendable (inout Layered.Base, OperationContext) -> Void
  ) {
    self.store.set(isSuccess: isSuccess, using: context) { edit(&$0.base, $1) }
  }

  func invalidate() -> Int { self.store.invalidate() }

  func reset(using context: OperationContext?) {
    self.store.reset(using: context)
  }

  func makeRerunTask(
    using context: OperationContext?
  ) -> OperationTask<Layered.Base.OperationValue, Layered.Base.Failure> {
    self.store.makeRerunTask(using: context)
  }

  func runForSubscribers() {
    self.store.runForSubscribers()
  }

  func rerunSinceChange() {
    self.store.rerunSinceChange()
  }

  func withExclusiveAccess<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    try self.store.withExclusiveAccess(body)
  }

  func observeActivity(_ observer: @escaping @Sendable () -> Void) -> OperationSubscription {
    self.store.observeActivity(observer)
  }
}

extension ControlBackend {
  /// The controls for a controller of states of type `Controlled`; nil when that is neither the state nor one of its
  /// bases.
  func controls<Controlled: OperationState & Sendable>(for type: Controlled.Type) -> OperationControls<Controlled>? {
    if let controls = OperationControls(backend: self) as? OperationControls<Controlled> { return controls }
    guard let layered = State.self as? any LayeredOperationState.Type else { return nil }
    return self.controls(for: type, ofBase: layered)
  }

  private func controls<Controlled: OperationState & Sendable, Layered: LayeredOperationState>(
    for type: Controlled.Type,
    ofBase layered: Layered.Type
  ) -> OperationControls<Controlled>? {
    (self as? any ControlBackend<Layered>).flatMap { BaseBackend(store: $0).controls(for: type) }
  }
}
