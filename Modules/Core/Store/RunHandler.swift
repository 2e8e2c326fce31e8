/// A reference to the handler for the events of one run.
///
/// A handler is as large as its five closures, and each async function that passes it on would keep a copy while it
/// waits. A reference is one pointer.
@usableFromInline
final class RunHandler<State: OperationState & Sendable>: Sendable {
  @usableFromInline let handler: OperationEventHandler<State>

  @inlinable
  init(_ handler: OperationEventHandler<State>) {
    self.handler = handler
  }
}

extension StoreRuntime {
  /// Subscribes a handler to the events of a run. The caller removes it with ``dismiss(_:)``.
  @inlinable
  func listen(to sharedRun: StoreRun, with handler: RunHandler<State>?) -> Subscriber<State>? {
    handler.map { self.listen(to: sharedRun.id, with: $0.handler) }
  }

  // Not inlined, like `dismissListener`: most calls pass no handler.
  @inlinable
  @inline(never)
  func listen(to run: OperationTaskIdentifier, with handler: OperationEventHandler<State>) -> Subscriber<State> {
    self.noteDependent()
    return self.machine.withLock { $0.subscribers.add(handler, role: .runListener(run)) }
  }

  /// Removes a listener after all events that are queued for it.
  @inlinable
  func dismiss(_ listener: Subscriber<State>?) {
    if let listener { self.dismissListener(listener) }
  }

  @inlinable
  @inline(never)
  func dismissListener(_ listener: Subscriber<State>) {
    self.machine.withLock { $0.eventQueue.append(.dismissal(listener)) }
    self.deliver()
  }
}
