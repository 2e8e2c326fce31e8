/// Hears of what happens around the runs of an operation, where no modifier can see it: for modules that measure.
@usableFromInline
package protocol OperationProbe: Sendable {
  /// A store was made. What is returned is cancelled when the store goes.
  func storeWasMade() -> OperationSubscription

  /// A subscriber has come. What is returned is cancelled when it leaves, or the store goes.
  func subscriberCame() -> OperationSubscription

  /// A caller is served by a run that was under way.
  func runWasJoined()
}

extension OperationContext {
  /// Who hears of what happens around the runs of the operation. A modifier adds itself in its setup.
  package var operationProbes: [any OperationProbe] {
    get { self[ProbesKey.self] }
    set { self[ProbesKey.self] = newValue }
  }

  /// Lets go of probes, which are for the operation that they were set up with and for no other.
  @inlinable
  mutating func forgetProbes() {
    self.unset(ProbesKey.self)
  }

  /// Tells the probes that a caller is served by a run that was under way.
  @inlinable
  package func noteJoin() {
    if self.isProbed { self.notifyJoin() }
  }

  @inlinable
  var isProbed: Bool { self.isSet(ProbesKey.self) }

  @usableFromInline
  func notifyJoin() {
    for probe in self.operationProbes { probe.runWasJoined() }
  }

  @usableFromInline
  enum ProbesKey: Key {
    @usableFromInline static let defaultValue: [any OperationProbe] = []
  }
}

extension StoreRuntime {
  /// Adds a subscriber as ``subscribe(_:mode:onStoreGone:)`` does, and tells the probes of its coming and leaving.
  @usableFromInline
  func subscribeProbed(
    _ handler: OperationEventHandler<State>,
    mode: StoreRun.StartMode,
    onStoreGone: (@Sendable () -> Void)?
  ) -> OperationSubscription {
    let presence = OperationSubscription.combined(self.context.operationProbes.map { $0.subscriberCame() })
    let subscription = self.addSubscriber(handler, mode: mode) {
      presence.cancel()
      onStoreGone?()
    }
    return .combined(subscription, presence)
  }
}
