/// A reference to the handler for the events of one run.
///
/// A handler is as large as its five closures, and each async function that passed it on would keep a copy while it
/// waits. A reference is one pointer.
@usableFromInline
final class RunHandler<State: OperationState & Sendable>: Sendable {
  @usableFromInline let handler: OperationEventHandler<State>

  @inlinable
  init(_ handler: OperationEventHandler<State>) {
    self.handler = handler
  }
}
