/// The store behind ``OperationControls``, with the state type of the controller.
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
  @discardableResult func invalidate() -> Int
  func reset(using context: OperationContext?)
  func makeRerunTask(using context: OperationContext?) -> OperationTask<State.OperationValue, State.Failure>
  func runForSubscribers()
  func rerunSinceChange()
  func withExclusiveAccess<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R
  func observeActivity(_ observer: @escaping @Sendable () -> Void) -> OperationSubscription
}

/// A store accessed through the base of its layered state.
private struct LayerBackend<Layer: LayeredOperationState>: ControlBackend {
  let layer: any ControlBackend<Layer>

  var path: OperationPath { self.layer.path }
  var context: OperationContext { self.layer.context }
  var state: Layer.Base { self.layer.state.base }
  var stateWithoutLayers: Layer.Base { self.layer.stateWithoutLayers.base }
  var isStale: Bool { self.layer.isStale }
  var isInvalidated: Bool { self.layer.isInvalidated }
  var uncountedChanges: Int { self.layer.uncountedChanges }
  var subscriberCount: Int { self.layer.subscriberCount }
  var canYieldRerun: Bool { self.layer.canYieldRerun }

  func set(
    isSuccess: Bool,
    using context: OperationContext?,
    _ edit: @escaping @Sendable (inout Layer.Base, OperationContext) -> Void
  ) {
    self.layer.set(isSuccess: isSuccess, using: context) { edit(&$0.base, $1) }
  }

  func invalidate() -> Int { self.layer.invalidate() }

  func reset(using context: OperationContext?) {
    self.layer.reset(using: context)
  }

  func makeRerunTask(
    using context: OperationContext?
  ) -> OperationTask<Layer.Base.OperationValue, Layer.Base.Failure> {
    self.layer.makeRerunTask(using: context)
  }

  func runForSubscribers() {
    self.layer.runForSubscribers()
  }

  func rerunSinceChange() {
    self.layer.rerunSinceChange()
  }

  func withExclusiveAccess<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    try self.layer.withExclusiveAccess(body)
  }

  func observeActivity(_ observer: @escaping @Sendable () -> Void) -> OperationSubscription {
    self.layer.observeActivity(observer)
  }
}

extension ControlBackend {
  /// The controls for a controller of `Controlled`; nil unless that is the state of the store or one of its bases.
  func controls<Controlled: OperationState & Sendable>(for type: Controlled.Type) -> OperationControls<Controlled>? {
    if let controls = OperationControls(backend: self) as? OperationControls<Controlled> { return controls }
    guard let layer = State.self as? any LayeredOperationState.Type else { return nil }
    return self.controls(for: type, beneath: layer)
  }

  private func controls<Controlled: OperationState & Sendable, Layer: LayeredOperationState>(
    for type: Controlled.Type,
    beneath layer: Layer.Type
  ) -> OperationControls<Controlled>? {
    (self as? any ControlBackend<Layer>).flatMap { LayerBackend(layer: $0).controls(for: type) }
  }
}
