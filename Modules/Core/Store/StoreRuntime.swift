public import Synchronization

/// What works behind an ``OperationStore``: it owns the machine, performs what that decides, and runs the operation.
///
/// Runs, subscriptions and controls hold the runtime, never the store, so that the store goes with its last reference and
/// closes the runtime when it does.
@usableFromInline
final class StoreRuntime<State: OperationState & Sendable>: Sendable {
  @usableFromInline typealias Task = OperationTask<State.OperationValue, State.Failure>
  @usableFromInline typealias StoreRun = SharedRun<State.OperationValue, State.Failure>

  // The lock lies beside what it guards, in one object with it.
  @usableFromInline let lock = ReentrantLock()
  /// Guards `entry` alone, which is set while the client is locked: whoever has exclusive access may be waiting for that.
  @usableFromInline let entryLock = Mutex(())
  @usableFromInline let operation: OperationBox<State>
  // Unsafe only in name: set before anybody else knows of the object.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var madeReference: TypedStoreReference<State>?
  // Unsafe only in name: touched by whoever holds its lock. It is that of the client that keeps the store, if one does.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var entry: StoreEntry?
  /// The number of the last invalidation; 0 before the first.
  @usableFromInline let lastInvalidation = Atomic<Int>(0)
  @usableFromInline let isInClient = Atomic(false)
  /// Whether anybody has come who is to be told when the store goes, and whether it has gone: decided one after the other.
  @usableFromInline let lifetime = Atomic<UInt8>(0)
  /// Whether anybody wants to hear of subscribers.
  @usableFromInline let isProbed: Bool
  /// Numbers the looks at whether the store is idle. It starts again after the greatest.
  @usableFromInline let idlenessReadings = Atomic<UInt32>(0)
  #if DEBUG
    /// What the client was asked for when it made the store.
    @usableFromInline let requestedOperation = RequestedOperation()
  #endif
  // Unsafe only in name: touched by whoever holds the lock, which also makes the accesses exclusive.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var lockedMachine: StoreMachine<State>

  @inlinable
  init(operation: OperationBox<State>, state: State, context: OperationContext) {
    self.operation = operation
    self.isProbed = context.isProbed
    self.lockedMachine = StoreMachine(state: state, context: context)
  }

  /// The way to the machine, through the lock.
  @inlinable
  var machine: StoreMachineAccess<State> { StoreMachineAccess(runtime: self) }

  /// The store, as the contexts of its runs refer to it.
  @inlinable
  var reference: TypedStoreReference<State> {
    guard let reference = self.madeReference else { preconditionFailure("A runtime is made with its store.") }
    return reference
  }
}

/// The machine of a store: what a ``ReentrantMutex`` around it would be, without an object of its own.
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

  /// Runs `body`, which must not call foreign code, with the machine.
  @inlinable
  func withLock<R>(_ body: (inout StoreMachine<State>) -> R) -> R {
    self.runtime.lock.withLock { body(&self.runtime.lockedMachine) }
  }
}

extension StoreRuntime {
  /// Whether the store has ever been invalidated.
  @inlinable
  var wasInvalidated: Bool { self.lastInvalidation.load(ordering: .relaxed) > 0 }

  /// Whether a client keeps the store, or has done so.
  @inlinable
  var wasInClient: Bool { self.isInClient.load(ordering: .acquiring) }

  @inlinable static var hasDependentsFlag: UInt8 { 1 }
  @inlinable static var isClosedFlag: UInt8 { 2 }

  /// Whether anybody has ever come who is to be told that the store is gone, or let go of then.
  @inlinable
  var hasDependents: Bool { self.lifetime.load(ordering: .acquiring) & Self.hasDependentsFlag != 0 }

  /// Notes that the store is gone. Returns whether there is anybody to tell.
  @inlinable
  func markClosed() -> Bool {
    let former = self.lifetime.bitwiseOr(Self.isClosedFlag, ordering: .acquiringAndReleasing).oldValue
    return former & Self.hasDependentsFlag != 0
  }

  var lockedEntry: StoreEntry? { self.entryLock.withLock { _ in self.entry } }

  /// Tells the client that the store is gone.
  func leaveClient() {
    self.lockedEntry?.storeIsGone()
  }

  /// Notes that somebody has come who is to be told when the store goes. Returns whether it is gone already.
  @usableFromInline
  @discardableResult
  func noteDependent() -> Bool {
    self.reference.hadListeners.store(true, ordering: .releasing)
    let former = self.lifetime.bitwiseOr(Self.hasDependentsFlag, ordering: .acquiringAndReleasing).oldValue
    return former & Self.isClosedFlag != 0
  }
}
