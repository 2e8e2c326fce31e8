public import Synchronization

/// A handler that receives events of a store.
@usableFromInline
final class Subscriber<State: OperationState & Sendable>: Sendable {
  @usableFromInline
  enum Role: Sendable {
    /// Counts as a subscriber: automatic runs are started for it, and it keeps them alive.
    case subscriber
    /// Receives all events but does not count as a subscriber.
    case listener
    /// Receives the events of one run and does not count as a subscriber.
    case runListener(OperationTaskIdentifier)
  }

  /// Increases in the order in which subscribers are added.
  @usableFromInline let id: UInt64
  @usableFromInline let role: Role
  @usableFromInline let handler: OperationEventHandler<State>
  /// Called when the store is released before the subscriber has left.
  @usableFromInline let onStoreGone: (@Sendable () -> Void)?
  @usableFromInline let isCancelled = Atomic(false)
  /// Whether the subscriber was told that the store was removed.
  let knowsRemoval = Atomic(false)
  /// The index in the slots of its table. Only the table reads and writes it.
  @usableFromInline let position: Atomic<Int>

  @inlinable
  init(
    id: UInt64,
    role: Role,
    position: Int,
    handler: OperationEventHandler<State>,
    onStoreGone: (@Sendable () -> Void)?
  ) {
    self.id = id
    self.position = Atomic(position)
    self.role = role
    self.handler = handler
    self.onStoreGone = onStoreGone
  }

  /// Stops the delivery of events to this subscriber.
  @inlinable
  func cancel() {
    self.isCancelled.store(true, ordering: .releasing)
  }

  @inlinable
  var hasLeft: Bool { self.isCancelled.load(ordering: .acquiring) }

  /// Whether the subscriber receives the events of `run`; nil stands for events outside runs.
  @inlinable
  func receivesEvents(of run: OperationTaskIdentifier?) -> Bool {
    if case .runListener(let id) = self.role { id == run } else { true }
  }
}
