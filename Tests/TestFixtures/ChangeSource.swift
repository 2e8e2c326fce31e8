package import OperationCore

/// A source that sends changes only: a new subscriber receives no current value.
package final class ChangeSource<Value: Sendable>: Sendable {
  private let handlers = Locked(Handlers<Value>())

  package init() {}

  package var subscriberCount: Int { self.handlers.withLock { $0.count } }

  package func send(_ value: Value) {
    for handler in self.handlers.withLock({ $0.all }) { handler.call(value) }
  }

  package func subscribe(_ receive: @escaping @Sendable (Value) -> Void) -> OperationSubscription {
    let id = self.handlers.withLock { $0.add(Handlers.Handler(receive)) }
    return OperationSubscription {
      self.handlers.withLock { handlers, released in released.append(handlers.remove(id)) }
    }
  }
}
