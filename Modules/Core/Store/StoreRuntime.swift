public import Synchronization

/// The implementation of an ``OperationStore``: owns the state machine, performs its decisions, and runs the operation.
///
/// Runs, subscriptions and controls retain the runtime, never the store, so the store is deinitialized with its last
/// reference, and closes the runtime.
@usableFromInline
final class StoreRuntime<State: OperationState & Sendable>: Sendable {
  @usableFromInline typealias StoreTask = OperationTask<State.OperationValue, State.Failure>
  @usableFromInline typealias StoreRun = SharedRun<State.OperationValue, State.Failure>

  // The lock lies beside the value it guards, in one object with it.
  @usableFromInline let lock = ReentrantLock()
  /// Guards the entry alone: it is set with the client's lock held, and a thread with exclusive access may wait for
  /// that lock.
  @usableFromInline let entryLock = Mutex(())
  @usableFromInline let operation: OperationBox<State>
  // Unsafe only in name: `entryLock` guards the entry, and the reference is set before the object is shared. With a
  // `Mutex` around the entry, each store would be 16 bytes larger. An `AtomicLazyReference` would take 2,900
  // instructions more of the 5,600 that a store takes to make and to drop.
  @usableFromInline nonisolated(unsafe) var links = Links()
  /// The number of the last invalidation; 0 before the first.
  @usableFromInline let lastInvalidation = Atomic<Int>(0)
  @usableFromInline let isInClient = Atomic(false)
  /// Two flags in one atomic value, so that setting one sees the other: has dependents, and is closed.
  @usableFromInline let lifetime = Atomic<UInt8>(0)
  /// Whether a probe wants to know of subscribers.
  @usableFromInline let isProbed: Bool
  /// The sequence number of the last idleness check. It wraps around.
  @usableFromInline let idlenessReadings = Atomic<UInt32>(0)
  #if DEBUG
    /// The operation that was passed to the client when it made the store.
    @usableFromInline let requestedOperation = RequestedOperation()
  #endif
  // Unsafe only in name: guarded by `lock`, which also makes the accesses exclusive: see `QueryState` for the figure.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var lockedMachine: StoreMachine<State>

  @usableFromInline
  struct Links {
    /// Not a constant of the runtime, because the reference needs the store.
    @usableFromInline var reference: TypedStoreReference<State>?
    /// The entry of the client that has the store, if any.
    @usableFromInline var entry: StoreEntry?

    @inlinable
    init() {}
  }

  @inlinable
  init(operation: OperationBox<State>, state: State, context: OperationContext) {
    self.operation = operation
    self.isProbed = context.isProbed
    self.lockedMachine = StoreMachine(state: state, context: context)
  }

  /// Access to the machine, through the lock.
  @inlinable
  var machine: StoreMachineAccess<State> { StoreMachineAccess(runtime: self) }

  /// The weak reference to the store that the contexts of its runs carry.
  @inlinable
  var reference: TypedStoreReference<State> {
    guard let reference = self.links.reference else { preconditionFailure("A runtime is made with its store.") }
    return reference
  }
}

/// Access to a store's machine, as through a ``ReentrantMutex`` but without a separate object.
@usableFromInline
struct StoreMachineAccess<State: OperationState & Sendable> {
  @usableFromInline let runtime: StoreRuntime<State>

  @inlinable
  init(runtime: StoreRuntime<State>) {
    self.runtime = runtime
  }

  /// Whether the current thread has exclusive access.
  @inlinable
  var isOwnedByCurrentThread: Bool { self.runtime.lock.isOwnedByCurrentThread }

  /// Runs `body` on the machine with the lock held. It must not call user code.
  @inlinable
  func withLock<R>(_ body: (inout StoreMachine<State>) -> R) -> R {
    self.runtime.lock.withLock { body(&self.runtime.lockedMachine) }
  }
}

extension StoreRuntime {
  /// Whether the store has ever been invalidated.
  @inlinable
  var wasInvalidated: Bool { self.lastInvalidation.load(ordering: .relaxed) > 0 }

  /// Whether the store is in a client, or has been.
  @inlinable
  var wasInClient: Bool { self.isInClient.load(ordering: .acquiring) }

  @inlinable static var hasDependentsFlag: UInt8 { 1 }
  @inlinable static var isClosedFlag: UInt8 { 2 }

  /// Whether anything has ever subscribed to the store, or attached to it.
  @inlinable
  var hasDependents: Bool { self.lifetime.load(ordering: .acquiring) & Self.hasDependentsFlag != 0 }

  /// Marks the store deinitialized. Returns whether it has dependents to notify.
  @inlinable
  func markClosed() -> Bool {
    let former = self.lifetime.bitwiseOr(Self.isClosedFlag, ordering: .acquiringAndReleasing).oldValue
    return former & Self.hasDependentsFlag != 0
  }

  /// The entry of the client that has the store, read with its lock held.
  var lockedEntry: StoreEntry? { self.entryLock.withLock { _ in self.links.entry } }

  /// Notifies the client that the store was deinitialized.
  func leaveClient() {
    self.lockedEntry?.storeIsGone()
  }

  /// Notes that the store has a dependent to notify when it is deinitialized. Returns whether that has happened
  /// already.
  @usableFromInline
  @discardableResult
  func noteDependent() -> Bool {
    let former = self.lifetime.bitwiseOr(Self.hasDependentsFlag, ordering: .acquiringAndReleasing).oldValue
    return former & Self.isClosedFlag != 0
  }
}
