/// The handler that hears of the events of one run, on its way to that.
///
/// A handler is as large as its four closures. Each async function that passes one on would keep it while it waits.
@usableFromInline
final class RunHandler<State: OperationState & Sendable>: Sendable {
  @usableFromInline let handler: OperationEventHandler<State>

  @inlinable
  init(_ handler: OperationEventHandler<State>) {
    self.handler = handler
  }
}
