/// Holds back callers of `pass()` until it is opened, so that the order of events does not depend on speed.
package final class Gate: Sendable {
  private let opening: AsyncStream<Never>.Continuation
  private let opened: Task<Void, Never>

  package init() {
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    self.opening = continuation
    self.opened = Task { for await _ in stream {} }
  }

  package func open() {
    self.opening.finish()
  }

  package func pass() async {
    await self.opened.value
  }
}
